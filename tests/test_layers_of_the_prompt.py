"""The system message fits the person: mode, class, channel, subject, exam, school hours."""

from pathlib import Path

import pytest

from bot.conversation import layers, prompt

CHILD = {"mode": "child", "grade": "CM2", "weekday": 6, "hour": 10}


@pytest.mark.parametrize(
    ("profile", "said", "layer", "there"),
    [
        (CHILD, ["Bonjour"], "grade_primary", True),
        ({**CHILD, "grade": "3e"}, [], "grade_middle", True),
        ({**CHILD, "grade": "Tle"}, [], "grade_high", True),
        ({"mode": "pro"}, [], "grade_high", False),
        (CHILD, ["Les fractions, s'il te plaît"], "subject_maths", True),
        (CHILD, ["Conjugue « grandir »"], "subject_french", True),
        ({"mode": "pro"}, ["Le bilan SYSCOHADA"], "subject_accounting", True),
        (CHILD, ["infraction"], "subject_maths", False),
        (CHILD, ["J'ai le BAC lundi"], "exam", True),
        (CHILD, ["le bac à sable", "un", "deux", "trois"], "exam", False),
        ({**CHILD, "weekday": 1}, [], "school_hours", True),
        (CHILD, [], "school_hours", False),
        ({**CHILD, "weekday": 1, "hour": 20}, [], "school_hours", False),
        ({"mode": "pro", "weekday": 1, "hour": 10}, [], "school_hours", False),
        ({"mode": "guest"}, [], "mode_guest", True),
    ],
)
def test_a_layer_is_there_when_it_fits(profile, said, layer, there):
    """Each layer stands in the prompt of those it is for."""
    assert (layer in layers.chosen(profile, "whatsapp", said)) is there


def test_every_layer_is_a_file_and_every_file_a_layer():
    """No layer is named that has no text, and no text lies unused."""
    named = {
        "tutor",
        "exam",
        "school_hours",
        *(f"mode_{m}" for m in ("child", "pro", "guest")),
        *(f"channel_{c}" for c in ("whatsapp", "sms")),
        *layers.STAGES,
        *layers.SUBJECTS,
    }
    assert named == {p.stem for p in Path(prompt.LAYERS).glob("*.md")}
    assert all(prompt.layer(name) for name in named)


def test_two_subjects():
    """The subject named most often wins; of two, the one named last."""
    assert "subject_physics" in layers.chosen(CHILD, "sms", ["maths", "physique"])
    assert "subject_maths" in layers.chosen(CHILD, "sms", ["maths et fractions", "physique"])


def test_what_is_known_stands_in_the_prompt(world):
    """Name, class, country and remembered facts are told to the model."""
    world.account(name="Awa", grade="CM2")
    world.say("Bonjour")
    system = world.model.asked[0]["messages"][0]["content"]
    assert "Awa" in system and "CM2" in system and "CI" in system and "primaire" in system
