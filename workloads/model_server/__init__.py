"""A local model server that speaks TensorFlow Serving's REST API.

It stands in for ``tensorflow_model_server`` where that program is not installed: it takes the same
flags and answers the same paths with the same JSON and status codes. It differs in this:

- the port answers at once, with 404 for the model, while there is no version yet; the real one
  opens its ports when its first version is loaded, and exits when that one does not load;
- a broken newest version gives way to an older one at the start as well;
- ``/healthz`` says in words what the server is doing;
- only 127.0.0.1 is bound unless ``--host`` says otherwise, and bodies are limited in size;
- no gRPC, no version labels, no classify or regress, no gzip or chunked bodies, and no warm-up
  file: the default signature is run once on zeros instead.
"""
