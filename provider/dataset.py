"""A dataset on the shared directory."""

from provider import place
from provider.kinds import Call, Change, Properties, ProviderError


class Dataset:
    """Afterwards `datasets/<name>` holds the data.

    What is there and right is left alone; it outlives the stack.
    """

    def identify(self, inputs: Properties) -> str:
        return str(inputs["name"])

    def compare(self, call: Call) -> Change:
        moved = tuple(
            key for key in ("source", "storage") if call.old_inputs.get(key) != call.inputs[key]
        )
        directory = place.dataset_directory(call.inputs)
        missing = not directory.is_dir() or not any(directory.iterdir())
        return Change(updates=moved, drift=("directory",) if missing else ())

    def create(self, call: Call) -> Properties:
        # Here and not above: it loads NumPy, which a preview does not need.
        from workloads.datasets import mnist_sample

        directory = place.dataset_directory(call.inputs)
        place.make_directory(directory)
        try:
            call.report(mnist_sample.fill(directory))
        except mnist_sample.DatasetError as error:
            raise ProviderError(str(error)) from error
        return {"directory": f"{call.inputs['storage']}/datasets/{call.inputs['name']}"}

    def read(self, call: Call) -> Properties | None:
        return call.outputs

    def update(self, call: Call) -> Properties:
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Data is never deleted."""
