"""A local model server that speaks TensorFlow Serving's REST API.

It stands in for ``tensorflow_model_server`` where that program is not installed. It takes the
same flags and answers the same paths with the same JSON and status codes. It has no gRPC API,
no version labels and no classify or regress (README of the project lists the differences).
"""
