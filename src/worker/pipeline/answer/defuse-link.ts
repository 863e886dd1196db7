/**
 * An address that no program makes a link of, still readable: `hxxps://host[.]org/x`, `mailto[:]a[at]b[.]org`. It
 * stays harmless in markdown, HTML and terminals, inside and outside of code. Defusing twice changes nothing.
 */
export function defuseLink(target: string): string {
  const plain = target.replace(/[\s<>`]/g, "");
  const scheme = /^[a-z][a-z0-9+.-]{0,20}:(?!\])/i.exec(plain)?.[0] ?? "";
  const rest = plain.slice(scheme.length);
  const host = /^(?:\/\/)?[^/?#]*/.exec(rest)?.[0] ?? "";
  const path = rest.slice(host.length);
  return `${defuseScheme(scheme)}${defuseHost(host)}${defusePath(path)}`;
}

function defuseScheme(scheme: string): string {
  if (/^h(?:tt|xx)ps?:$/i.test(scheme)) return scheme.toLowerCase().replace("tt", "xx");
  return scheme === "" ? "" : `${defuseHost(scheme.slice(0, -1))}[:]`;
}

/** Of its colons that before a port stays. */
const defuseHost = (text: string): string =>
  text
    .replaceAll("@", "[at]")
    .replace(/(?<!\[)\.(?!\])/g, "[.]")
    .replace(/(?<!\[):(?!\]|\d{1,5}$)/g, "[:]");

/** Another address may stand in it. */
const defusePath = (text: string): string =>
  text
    .replaceAll("@", "[at]")
    .replace(/(?<!\[):(?!\])/g, "[:]")
    .replace(/www\./gi, "www[.]");
