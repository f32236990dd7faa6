"""An environment variable of a job's replicas, as it stands under `env` of a job."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from config.base import BadValueError, Change, Section, setting
from config.names import SecretKey, String, Subdomain


class SecretKeyRef(Section):
    """A value of a Secret that the namespace has."""

    looks_like: ClassVar = "{name: credentials, key: token}"

    name: Subdomain = setting("Name of the Secret.", Change.REPLACES, ...)
    key: SecretKey = setting("Key of the value in it.", Change.REPLACES, ...)


class EnvValue(Section):
    """One environment variable. A plain value can be read in the file, the state and previews."""

    refused_keys: ClassVar = {"valuefrom": "write secretKeyRef: {name: …, key: …} directly"}

    value: String = setting(
        "The value, a string. Required without secretKeyRef.", Change.REPLACES, ...
    )
    secret_key_ref: SecretKeyRef | None = setting(
        "Where the value is, instead of value. Not on local, which has no Secrets.",
        Change.REPLACES,
    )
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
        if raw.get("value") is not None and raw.get("secretKeyRef") is not None:
            raise BadValueError("must have only one of value and secretKeyRef")
        # Where a Secret has the value, nobody reads this one.
        return {"value": "", **raw} if raw.get("secretKeyRef") is not None else raw

    def __repr__(self) -> str:
        return "EnvValue(value=[hidden])"

    __str__ = __repr__

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        mapping = {key: value for key, value in handler(schema).items() if key != "required"}
        return {"anyOf": [{"type": "string"}, mapping]}
