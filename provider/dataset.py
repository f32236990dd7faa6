"""A dataset on the shared directory."""

from provider import place
from provider.kinds import Call, Change, Properties, ProviderError
from workloads.datasets import mnist_directory
from workloads.datasets.mnist_directory import DatasetError


class Dataset:
    """Afterwards `datasets/<name>` holds the data.

    What is there and right is left alone; it outlives the stack. What is damaged is refused and
    left too: it may be the user's.
    """

    def identify(self, inputs: Properties) -> str:
        return str(inputs["name"])

    def refusals(self, call: Call) -> list[str]:
        return []

    def compare(self, call: Call) -> Change:
        moved = tuple(
            key for key in ("source", "storage") if call.old_inputs.get(key) != call.inputs[key]
        )
        try:
            lacking = mnist_directory.missing(place.dataset_directory(call.inputs))
        except DatasetError as error:
            # A preview goes on with the rest of the stack; `create` is what refuses.
            return Change(updates=moved, drift=("directory",), notes=(str(error),))
        if not lacking:
            return Change(updates=moved)
        note = f"{lacking[0]} is missing: it is made again"
        return Change(updates=moved, drift=("directory",), notes=() if moved else (note,))

    def create(self, call: Call) -> Properties:
        # Here and not above: it loads NumPy, which a preview does not need.
        from workloads.datasets import mnist_sample

        directory = place.dataset_directory(call.inputs)
        try:
            if mnist_directory.missing(directory):
                place.make_directory(directory)
            call.report(mnist_sample.fill(directory))
        except DatasetError as error:
            raise ProviderError(str(error)) from error
        return {"directory": f"{call.inputs['storage']}/datasets/{call.inputs['name']}"}

    def read(self, call: Call) -> Properties | None:
        return call.outputs

    def update(self, call: Call) -> Properties:
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Data is never deleted."""
