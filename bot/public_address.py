"""Whether a web address is one that everybody may read: http or https, on a machine of the public internet."""

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from bot.errors import ToolError

INSIDE_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "test", "invalid", "onion", "arpa")
NUMERIC = re.compile(r"0x[0-9a-f]*|\d+", re.I)  # a host that ends in a number is an IPv4 address to a browser: 2130706433, 0x7f.1
LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
NOT_PUBLIC = [
    ipaddress.ip_network(n)
    for n in (
        "168.63.129.16/32",  # Azure's own server beside every machine, although the address is public
        "192.0.0.0/24",
        "198.18.0.0/15",
        "100.64.0.0/10",
        "::/96",
        "fec0::/10",
        "2001::/23",  # old embeddings of IPv4, site-local, and protocol assignments (Teredo among them)
    )
]
NAT64 = ipaddress.ip_network("64:ff9b::/96")  # IPv4 written into the last four bytes
SIX_TO_FOUR = ipaddress.ip_network("2002::/16")


def check(url: str) -> None:
    """Raises ToolError, for the model to read, unless *url* is a public http(s) address whose name resolves to public machines only."""
    if re.search(r"[\x00-\x20\x7f\\\ud800-\udfff]|\s", url):
        raise ToolError("The address has a blank, a control character or a backslash in it; give the plain address of the page.")
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").rstrip(".")
    except ValueError as problem:
        raise ToolError(f"This is not a web address: {url[:200]!r}.") from problem
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise ToolError("Only complete addresses that begin with http:// or https:// can be read.")
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        raise ToolError("Addresses with a user name or password in them are refused; give the plain address of the page.")
    for address in _addresses(host):
        if not _is_public(address):
            raise ToolError(f"{host} is not a public address, so it is not read. Use a page of the public web.")


def _addresses(host: str) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Every address *host* stands for. Raises ToolError."""
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        name = _ascii(host)
    if NUMERIC.fullmatch(name.rsplit(".", 1)[-1]) or name.rsplit(".", 1)[-1] in INSIDE_NAMES or "." not in name:
        raise ToolError(f"{host} is not a public address, so it is not read. Use a page of the public web.")
    try:
        found = socket.getaddrinfo(name, 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise ToolError(f"There is no site named {host} (the name does not resolve). Check it or search the web for the site.") from problem
    return [ipaddress.ip_address(entry[4][0].partition("%")[0]) for entry in found]


def _ascii(host: str) -> str:
    """The name in lower-case ASCII; full-width digits and other look-alikes become what they stand for."""
    try:
        name = host.encode("idna").decode().lower().rstrip(".")
    except UnicodeError:
        name = ""
    if not name or len(name) > 253 or not all(LABEL.fullmatch(label) for label in name.split(".")):
        raise ToolError(f"{host[:100]!r} is not the name of a site.")
    return name


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if address.version == 6:
        if address.ipv4_mapped:
            return _is_public(address.ipv4_mapped)
        if address in NAT64:
            return _is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if address in SIX_TO_FOUR:
            return _is_public(address.sixtofour)
    return address.is_global and not address.is_multicast and not any(address.version == n.version and address in n for n in NOT_PUBLIC)
