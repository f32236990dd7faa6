"""A local model server that speaks TensorFlow Serving's REST API.

It stands in for ``tensorflow_model_server`` where that program is not installed: it takes the same
flags and answers the same paths with the same JSON and status codes. It differs in this:

- the port answers at once, with 404 for the model, while there is no version yet; the real one
  opens its ports when its first version is loaded, and exits when that one does not load;
- a broken newest version gives way to an older one at the start as well;
- a numbered directory without a model file in it is not looked at until it has one;
- the status forgets a broken version once its directory is gone;
- ``/healthz`` says in words what the server is doing; ``/healthz?model=NAME`` is 404 when this is
  the server of another model;
- only 127.0.0.1 is bound unless ``--host`` says otherwise, and bodies are limited in size;
- no gRPC, no version labels, no classify or regress, no gzip or chunked bodies, no CORS (OPTIONS
  is 501), and no warm-up file: the default signature is run once on zeros instead.

Like the real one it unloads its version when its base directory has no version any more, and
keeps serving while the base directory itself is gone or cannot be read.
"""
