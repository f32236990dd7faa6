"""Services that run beside the training jobs: TensorBoard, datasets, serving."""
