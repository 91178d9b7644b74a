"""Moodle: "Download all submissions", its grading worksheet and its list of participants.

Names follow mod/assign's downloader: `{full name}_{participant}_assignsubmission_file`, underscores in the name made
spaces, characters that a file name can't have dropped; a folder for each, or as prefixes of files. Blind marking puts
"Participant" for the name; a team's folder has the group's name and id, and members without a group share
"Default group". Older versions put a `_` after the folder's name.
"""

import csv
import io
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from platforms.packing import pack
from platforms.people import Person, Upload

DEFAULT_TEAM = "Default group"


def make_moodle(
    path: Path, uploads: Sequence[Upload], *, flat: bool = False, blind: bool = False, old: bool = False
) -> Path:
    """A download as folder or archive. Moodle keeps the last attempt only."""
    files: dict[str, bytes] = {}
    for upload in uploads:
        prefix = moodle_prefix(upload, blind=blind)
        divider = "_" if flat else "_/" if old else "/"
        for name, data in upload.files.items():
            own = clean(name.replace("/", "_")) if flat else name
            files[f"{prefix}_assignsubmission_file{divider}{own}"] = data
        if upload.text:
            files[f"{prefix}_assignsubmission_onlinetext{divider}onlinetext.html"] = f"<p>{upload.text}</p>".encode()
    return pack(path, files)


def moodle_prefix(upload: Upload, *, blind: bool = False) -> str:
    """What a student's or a team's folder begins with."""
    if upload.team == DEFAULT_TEAM:
        return DEFAULT_TEAM
    if upload.team:
        return clean(f"{upload.team.replace('_', ' ')}_{group_id(upload.team)}")
    name = "Participant" if blind else upload.person.name.replace("_", " ")
    return clean(f"{name}_{upload.person.number}")


def group_id(team: str) -> int:
    return 300 + sum(team.encode()) % 97


def clean(name: str) -> str:
    """What Moodle's clean_filename drops."""
    return re.sub(r"\.\.+", "", re.sub(r"[\x00-\x1f\x7f&<>\"`|':\\/]", "", name))


_WORKSHEET = {
    "en": (
        "Identifier,Full name,ID number,Email address,Status,Group,Grade,Maximum grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments",
        "Participant ",
    ),
    "de": (
        "ID,Vollständiger Name,ID-Nummer,E-Mail-Adresse,Status,Gruppe,Bewertung,Bestwertung,"
        "Bewertung kann geändert werden,Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar",
        "Teilnehmer/in",
    ),
    "fr": (
        "Identifiant,Nom complet,Numéro d'identification,Adresse de courriel,Statut,Groupe,Note,Note maximale,"
        "La note peut être modifiée,Dernière modification (travail remis),Dernière modification (note),"
        "Feedback par commentaires",
        "Participant",
    ),
    "es": (
        "Identificador,Nombre completo,Número de ID,Dirección de correo,Estado,Grupo,Calificación,Calificación máxima,"
        "La calificación puede ser cambiada,Última modificación (entrega),Última modificación (calificación),"
        "Comentarios de retroalimentación",
        "Participante ",
    ),
}


def moodle_worksheet(people: Sequence[Person], *, language: str = "en", uploads: Sequence[Upload] = ()) -> str:
    """The grading worksheet, which Moodle reads back."""
    titles, participant = _WORKSHEET[language]
    own = {one: upload for upload in uploads for one in upload.people}
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(titles.split(","))
    for one in people:
        upload = own.get(one)
        status = _status(upload) if upload else "No submission" if uploads else "Submitted for grading"
        rows.writerow(
            [
                f"{participant}{one.number}", one.name, one.sid, one.email, status, upload.team if upload else "", "",
                "100.00", "Yes", _moment(upload.at, language) if upload else "-", "-", "",
            ]
        )  # fmt: skip
    return "\ufeff" + text.getvalue()


_CLOCK = {
    "en": ("%A, {day} %B %Y, {hour}:%M %p", {}),
    "de": ("{name}, {day}. %B %Y, %H:%M", {"November": "November", "weekday": "Freitag"}),
    "fr": ("{name} {day} novembre %Y, %H:%M", {"weekday": "vendredi"}),
    "es": ("{name}, {day} de noviembre de %Y, %H:%M", {"weekday": "viernes"}),
}


def _moment(at: datetime, language: str) -> str:
    """A time in November as Moodle shows it in a language."""
    form, words = _CLOCK[language]
    return at.strftime(form.format(day=at.day, hour=at.hour % 12 or 12, name=words.get("weekday", "")))


def _status(upload: Upload) -> str:
    return "Submitted for grading - 1 day 2 hours late" if upload.late else "Submitted for grading"


_PARTICIPANTS = {
    "en": "First name,Last name,ID number,Email address,Groups",
    "de": "Vorname,Nachname,ID-Nummer,E-Mail-Adresse,Gruppen",
    "fr": "Prénom,Nom,Numéro d'identification,Adresse de courriel,Groupes",
    "es": "Nombre,Apellido(s),Número de ID,Dirección de correo,Grupos",
}


def moodle_participants(people: Sequence[Person], *, language: str = "en", uploads: Sequence[Upload] = ()) -> str:
    """The list of participants, as it is downloaded from a course."""
    teams = {one: upload.team for upload in uploads for one in upload.people}
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(_PARTICIPANTS[language].split(","))
    rows.writerows([one.first, one.last, one.sid, one.email, teams.get(one, "")] for one in people)
    return "\ufeff" + text.getvalue()
