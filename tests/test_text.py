"""Words, index terms and sentences: what lexical code agrees on."""

from __future__ import annotations

from admission.text import content_terms, content_words, index_terms, sentences, terms, words


def test_words_keep_what_belongs_together() -> None:
    assert words("Don't wait: 3.5 km at 10:30, well-known.") == [
        "Don't",
        "wait",
        "3.5",
        "km",
        "at",
        "10:30",
        "well-known",
    ]


def test_terms_are_stems_and_bigrams_where_a_script_has_no_spaces() -> None:
    assert terms("Aino's bees flying") == ["aino", "bee", "fli"]
    assert terms("蜂を飼う") == ["蜂を", "を飼", "飼う"]
    assert terms("蜂") == ["蜂"]


def test_content_leaves_out_function_words() -> None:
    assert content_words("The bees aren't in the orchard, are they?") == ["bees", "orchard"]
    assert content_terms("The bees are flying") == ["bee", "fli"]


def test_index_terms_hold_the_stem_and_the_exact_form() -> None:
    assert index_terms(["Bees", "蜂を"]) == ["bee", "=bees", "蜂を"]


def test_sentences_end_at_marks_of_any_script_and_not_after_abbreviations() -> None:
    text = "Dr. Salo came at 3.5 km. 蜂です。Fin؟ ok\nlast"
    assert [text[start:end] for start, end in sentences(text)] == [
        "Dr. Salo came at 3.5 km.",
        "蜂です。",
        "Fin؟",
        "ok",
        "last",
    ]
