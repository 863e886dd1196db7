import { append } from "../../../shared/group-by.ts";
import { decodeBytes } from "../encoding.ts";
import type { DecodedText } from "../encoding.ts";

/** A line of a calendar or of a card: `NAME;PARAMETER=…:VALUE` (RFC 5545 and 6350). */
export type Property = {
  /** Lines of a card with the same group belong together: "item1". */
  readonly group: string;
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
};
export type Component = ReadonlyMap<string, readonly Property[]>;

/** A line end before the rest of a folded line, which begins with a blank or tab. */
const FOLD = /\r?\n[ \t]/g;

/** Joins folded lines, then decodes: programs fold at a number of bytes, even within a letter. UTF-16 is joined afterwards. */
export function decodeUnfolded(bytes: Buffer, encoding: string | undefined): DecodedText {
  const whole = bytes.toString("latin1").replaceAll(FOLD, "");
  const decoded = decodeBytes(Buffer.from(whole, "latin1"), encoding);
  return decoded === undefined
    ? { text: "", encoding: "" }
    : { ...decoded, text: decoded.text.replaceAll(FOLD, "") };
}

/** The components of the given kinds, each with its properties by name. */
export function componentsOf(
  text: string,
  kinds: ReadonlySet<string>,
  count: () => void,
): readonly Component[] {
  const components: Map<string, Property[]>[] = [];
  let component: Map<string, Property[]> | undefined;
  /** Depth of components within the current one, such as alarms, which are skipped. */
  let inner = 0;
  for (const property of propertiesOf(text)) {
    count();
    const { name, value } = property;
    if (name === "BEGIN") {
      if (component !== undefined) inner += 1;
      else if (kinds.has(value.toUpperCase()))
        components.push((component = new Map<string, Property[]>()));
    } else if (name === "END") {
      if (inner > 0) inner -= 1;
      else component = undefined;
    } else if (component !== undefined && inner === 0) {
      append(component, name, property);
    }
  }
  return components;
}

function* propertiesOf(text: string): Generator<Property> {
  for (const line of text.split(/\r?\n/)) {
    const match = /^(?:([\w-]+)\.)?([\w-]+)((?:;[^=:;]+(?:=(?:"[^"]*"|[^:;"])*)?)*):(.*)$/s.exec(
      line,
    );
    if (match === null) continue;
    const [, group = "", name = "", parameters = "", value = ""] = match;
    yield { group, name: name.toUpperCase(), parameters, value };
  }
}

/** `20260502T093000Z` is 2026-05-02 09:30 UTC. */
export function dateOf(value: string): string {
  const parts = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?$/.exec(value.trim());
  if (parts === null) return value;
  const [, year = "", month = "", day = "", hour, minute = "", , utc] = parts;
  const time = hour === undefined ? "" : ` ${hour}:${minute}${utc === undefined ? "" : " UTC"}`;
  return `${year}-${month}-${day}${time}`;
}

/** A value without its backslashes. */
export const unescapeValue = (value: string): string =>
  value.replaceAll(/\\([nN,;\\:"])/g, (_, character: string) =>
    character.toLowerCase() === "n" ? "\n" : character,
  );
