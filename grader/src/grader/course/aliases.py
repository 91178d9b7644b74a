"""Made-up aliases, derived from a student's identity and a salt that only the results folder has.

Without the salt, nobody can compute aliases from a class list. The salt is derived from the secret of the seeds if
there is one, so a class has the same aliases in every folder with that secret.
"""

import hashlib
import hmac
import secrets
from dataclasses import replace

from grader.base.secret import Secret
from grader.course.people import Identity, identity
from grader.model.record import Record
from grader.model.roster import Student
from grader.running.store import Journal

_SALT = "salt of aliases"  # key in the journal
_DIGITS = 8


def salt_of(journal: Journal, secret: Secret | None = None) -> str:
    """The salt of a folder's aliases: the stored one, else derived from the secret, else random."""
    salt = journal.recall(_SALT)
    if not salt:
        salt = secret.alias_salt if secret else secrets.token_hex(16)
        journal.remember(_SALT, salt)
    return salt


def made_up(salt: str, text: str) -> str:
    """The alias that is derived from this text."""
    digest = hmac.new(salt.encode(), text.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()
    return f"Anonymous {digest[:_DIGITS]}"


def alias_of(salt: str, who: Identity) -> str:
    """A student's alias."""
    return made_up(salt, repr(who))


def with_alias(salt: str, record: Record) -> Record:
    """The record with an alias for each student who has none on the roster."""
    handed = record.handed

    def named(student: Student) -> Student:
        who = identity(student, is_matched=handed.is_matched)
        return student if student.alias else replace(student, alias=alias_of(salt, who))

    return replace(record, student=named(record.student), handed=replace(handed, group=tuple(map(named, handed.group))))
