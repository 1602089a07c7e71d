"""The forms in which a user may write the inputs of a bolt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.model.specs.spec import GlobalStreamId, Inputs, Spec
from framework.model.topology import DEFAULT_STREAM, Grouping

_EXPECTED = "expected a spec or a GlobalStreamId, as in inputs=[words] or inputs={words: Grouping.SHUFFLE}"


def subscriptions(inputs: object) -> Inputs:
    """The subscriptions that ``inputs=`` stands for.

    It is a mapping of source to grouping, a list of sources, or one source.

    A source is a spec, which stands for its default stream, or a `GlobalStreamId`.
    Without a grouping a stream is shuffled, or sent directly where the spec says that it is direct.

    Raises:
        TypeError: anything else.
        KeyError: a spec without a default stream.
    """
    if inputs is None:
        return ()
    if isinstance(inputs, Mapping):
        return tuple((_stream_id(source), _grouping(value)) for source, value in inputs.items())
    sources = inputs if isinstance(inputs, list | tuple) else [inputs]
    return tuple((_stream_id(source), _default_grouping(source)) for source in sources)


def _stream_id(source: Any) -> GlobalStreamId:
    if isinstance(source, GlobalStreamId):
        return source
    if isinstance(source, Spec):
        return source[DEFAULT_STREAM]
    if _is_foreign_spec(source):
        source = source[DEFAULT_STREAM]
    if hasattr(source, "componentId") and hasattr(source, "streamId"):
        return GlobalStreamId(source.componentId, source.streamId)
    raise TypeError(f"{source!r} is no input: {_EXPECTED}{_hint(source)}")


def _is_foreign_spec(source: object) -> bool:
    """Whether it is a spec of streamparse's, which is not imported for this."""
    return hasattr(source, "component_cls") and hasattr(source, "component_object")


def _hint(source: object) -> str:
    if isinstance(source, type):
        return f"; did you mean {source.__name__}.spec(...), as an attribute of the topology?"
    if isinstance(source, str):
        return f"; did you mean GlobalStreamId({source!r}, {DEFAULT_STREAM!r})?"
    return ""


def _grouping(value: object) -> Grouping:
    if isinstance(value, Grouping):
        return value
    expected = "expected one of framework's Grouping, e.g. Grouping.SHUFFLE or Grouping.fields('word')"
    raise TypeError(f"{value!r} is no grouping: {expected}")


def _default_grouping(source: object) -> Grouping:
    streams = source.outputs if isinstance(source, Spec) else ()
    direct = any(stream.direct for stream in streams if stream.name == DEFAULT_STREAM)
    return Grouping.DIRECT if direct else Grouping.SHUFFLE
