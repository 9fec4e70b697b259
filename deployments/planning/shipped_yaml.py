"""The YAML files that ship with the panel, as plain values."""

from typing import Any

import yaml

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_shipped_yaml(written: str) -> Any:  # noqa: ANN401 - what a file holds
    """Read one document of a file that ships with the panel.

    By libyaml where PyYAML was built with it, which takes a tenth of the time: the catalog is
    read at the start of most commands. What a person writes goes to ``read_document_text``,
    which is stricter.

    Raises:
        yaml.YAMLError: the file is broken.
    """
    loader = _Loader(written)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()
