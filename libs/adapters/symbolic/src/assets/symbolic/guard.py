"""Restricts the process to calculating. Limits of the operating system come first; the audit hook is a second barrier."""
import os
import re
import sys

try:
    import resource
except ImportError:  # Windows has no such limits; the parent's own bounds remain.
    resource = None


def limit(name, soft, hard=None):
    """Lowers one limit. A system that does not know or refuses it (macOS and RLIMIT_AS) keeps the others and the parent's bounds."""
    kind = getattr(resource, name, None)
    if kind is None:
        return False
    try:
        resource.setrlimit(kind, (soft, soft if hard is None else hard))
        return True
    except (ValueError, OSError):
        return False


def limit_system(memory_mb):
    limit("RLIMIT_AS", memory_mb * 1024 * 1024)
    limit("RLIMIT_CORE", 0)
    limit("RLIMIT_FSIZE", 0)


def limit_processor(seconds):
    """Limits processor time from now on, in seconds. The system then ends the process even if its parent is gone."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit("RLIMIT_CPU", int(used.ru_utime + used.ru_stime + seconds) + 2, resource.getrlimit(resource.RLIMIT_CPU)[1])


FORBIDDEN = (
    "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "pty.", "signal.", "ftplib.", "http.", "urllib.", "smtplib.", "sqlite3.",
    "tempfile.", "webbrowser.", "winreg.", "_winapi.", "mmap.", "fcntl.", "pickle.", "code.", "syslog.", "imaplib.", "poplib.", "telnetlib.",
    "nntplib.", "glob.",
)  # fmt: skip
ALLOWED = {"os.listdir", "os.scandir", "os.putenv"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Refused(BaseException):
    """Not an Exception, so that no library treats it as one of its own failed attempts."""


def refusal(makers):
    """An audit hook that refuses programs, connections, files other than modules, and text that becomes code outside of `makers`."""

    def refuse(event, args):
        if event.startswith(FORBIDDEN) and event not in ALLOWED:
            raise Refused(event)
        if event == "open":
            path, mode, flags = args
            writes = flags & WRITING if isinstance(flags, int) else mode not in (None, "r", "rb")
            if writes or not (isinstance(path, str) and path.endswith((".py", ".pyc", ".so"))):
                raise Refused(event)
        if becomes_code(event, args) and sys._getframe(1).f_code not in makers:
            raise Refused(event)

    return refuse


def becomes_code(event, args):
    """Whether text is about to become code; modules are read from files and keep their names."""
    if event == "exec":
        name = getattr(args[0], "co_filename", "<string>")
        return name.startswith("<") and not name.startswith("<frozen")
    return event == "compile" and args[0] is not None and not str(args[1]).endswith(".py")


def close_parser(parser, rational):
    """SymPy itself writes some fractions as text ('3/2'). They are read here, so its parser, which evaluates text, is never reached."""

    def plain_fraction(text, *_, **__):
        if not isinstance(text, str) or not re.fullmatch(r"-?\d{1,9}(/\d{1,9})?", text):
            raise Refused("sympify")
        return rational(text)

    parser.parse_expr = plain_fraction


def close(makers=()):
    """Installs the audit hook for good: it cannot be removed. `makers`: code objects that generate code from numbers alone."""
    sys.addaudithook(refusal(frozenset(makers)))
