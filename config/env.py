"""An environment variable of a job's replicas, as it stands under `env` of a job."""

from __future__ import annotations

from typing import Any

from pydantic import GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from config.base import BadValueError, Change, Section, setting
from config.names import String


class EnvValue(Section):
    """One environment variable. A plain value can be read in the file, the state and previews."""

    value: String = setting("The value, a string.", Change.REPLACES, ...)
    secret: bool = setting(
        "Whether the value is kept encrypted in state and hidden everywhere. Values set with "
        "pulumi config set --secret are, without this.",
        Change.REPLACES,
        False,
    )

    @model_validator(mode="before")
    @classmethod
    def _from_string(cls, raw: Any) -> Any:
        if raw is None:
            raise BadValueError("must be a string", 'write "" for an empty one')
        if isinstance(raw, str):
            return {"value": raw}
        if not isinstance(raw, dict):
            raise BadValueError("must be a string")
        return raw

    def __repr__(self) -> str:
        return "EnvValue(value=[hidden])"

    __str__ = __repr__

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [{"type": "string"}, handler(schema)]}
