import { decodeBytes } from "../encoding.ts";
import type { DecodedText } from "../encoding.ts";
import { countedOut } from "../left-out.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Extraction } from "../extraction.ts";

/** What is told of an appointment or a task, in this order, and what it is called. */
const FIELDS: readonly (readonly [property: string, name: string])[] = [
  ["DTSTART", "Start"],
  ["DTEND", "End"],
  ["DUE", "Due"],
  ["DURATION", "Duration"],
  ["RRULE", "Repeats"],
  ["RDATE", "Also on"],
  ["EXDATE", "Not on"],
  ["RECURRENCE-ID", "Instead of"],
  ["LOCATION", "Location"],
  ["STATUS", "Status"],
  ["COMPLETED", "Completed"],
  ["PRIORITY", "Priority"],
  ["CATEGORIES", "Categories"],
  ["ORGANIZER", "Organizer"],
  ["ATTENDEE", "Attendees"],
  ["CONTACT", "Contact"],
  ["URL", "URL"],
  ["COMMENT", "Comment"],
  ["DESCRIPTION", "Description"],
];
const DATES = new Set(["DTSTART", "DTEND", "DUE", "RDATE", "EXDATE", "RECURRENCE-ID", "COMPLETED"]);
const PERSONS = new Set(["ORGANIZER", "ATTENDEE"]);
/** Parts of a calendar that stand for themselves. */
const ENTRIES = new Set(["VEVENT", "VTODO", "VJOURNAL"]);

type Property = { readonly name: string; readonly parameters: string; readonly value: string };
type Entry = ReadonlyMap<string, readonly Property[]>;

/** Calendars: each appointment, task or note under its title, a line for each thing that is known of it. */
export function readIcs(bytes: Buffer, limits: TextLimits): Extraction {
  const builder = openTextBuilder(limits);
  const { text, encoding } = decodeUnfolded(bytes, limits.encoding);
  const entries = entriesOf(text, countEntries("lines", limits));
  if (!/^BEGIN:VCALENDAR/im.test(text)) {
    throw new NoText("FILE_FORMAT_INVALID", "is no calendar: export it anew as .ics.");
  }
  for (const entry of entries)
    builder.add(`## ${titleOf(entry)}\n\n${linesOf(entry).join("\n")}\n\n`);
  const attachments = entries.reduce((sum, entry) => sum + (entry.get("ATTACH")?.length ?? 0), 0);
  const title = /^X-WR-CALNAME[^:\r\n]{0,200}:(.*)/im.exec(text)?.[1];
  const metadata = {
    ...(title === undefined ? {} : { title: unescaped(title) }),
    ...(encoding === "utf-8" ? {} : { encoding }),
    entries: entries.length,
  };
  return { ...builder.finish(metadata), ...countedOut({ attachments }) };
}

const MOST_INVITED = 100;

/** The appointments and tasks of a calendar in a mail, a paragraph each; an empty text where it has none. */
export function invitationText(bytes: Buffer): string {
  const { text } = decodeUnfolded(bytes, undefined);
  const method = /^METHOD:(\w{1,40})/m.exec(text)?.[1];
  const said = method === undefined ? [] : [`Method: ${method}`];
  return entriesOf(text, () => undefined)
    .slice(0, MOST_INVITED)
    .map((entry) => [...said, `Summary: ${titleOf(entry)}`, ...linesOf(entry)])
    .map((lines) => lines.map((line) => line.replaceAll(/\s+/g, " ")).join("\n"))
    .join("\n\n");
}

/** Lines that go on in the next one begin there with a blank. */
const FOLD = /\r?\n[ \t]/g;

/** Programs cut lines at a number of bytes, which may be in the middle of a letter; those of two bytes a sign are cut between. */
function decodeUnfolded(bytes: Buffer, encoding: string | undefined): DecodedText {
  const whole = bytes.toString("latin1").replaceAll(FOLD, "");
  const decoded = decodeBytes(Buffer.from(whole, "latin1"), encoding);
  return decoded === undefined
    ? { text: "", encoding: "" }
    : { ...decoded, text: decoded.text.replaceAll(FOLD, "") };
}

function entriesOf(text: string, count: () => void): readonly Entry[] {
  const entries: Map<string, Property[]>[] = [];
  let entry: Map<string, Property[]> | undefined;
  /** Parts within an entry, such as alarms, tell nothing of it. */
  let inner = 0;
  for (const property of propertiesOf(text)) {
    count();
    const { name, value } = property;
    if (name === "BEGIN") {
      if (entry !== undefined) inner += 1;
      else if (ENTRIES.has(value.toUpperCase()))
        entries.push((entry = new Map<string, Property[]>()));
    } else if (name === "END") {
      if (inner > 0) inner -= 1;
      else entry = undefined;
    } else if (entry !== undefined && inner === 0) {
      const same = entry.get(name);
      if (same === undefined) entry.set(name, [property]);
      else same.push(property);
    }
  }
  return entries;
}

function* propertiesOf(text: string): Generator<Property> {
  for (const line of text.split(/\r?\n/)) {
    const match = /^([\w-]+)((?:;[^=:;]+=(?:"[^"]*"|[^:;"]*))*):(.*)$/s.exec(line);
    if (match === null) continue;
    const [, name = "", parameters = "", value = ""] = match;
    yield { name: name.toUpperCase(), parameters, value };
  }
}

const titleOf = (entry: Entry): string =>
  unescaped(entry.get("SUMMARY")?.[0]?.value ?? "(no title)")
    .replaceAll(/\s+/g, " ")
    .trim();

const linesOf = (entry: Entry): string[] =>
  FIELDS.flatMap(([name, label]) => {
    const values = (entry.get(name) ?? [])
      .map((property) => valueOf(name === "DTEND" ? lastDay(property, entry) : property))
      .filter(Boolean);
    return values.length === 0 ? [] : [`${label}: ${values.join(", ")}`];
  });

/** The end of whole days is the day after the last one. */
function lastDay(end: Property, entry: Entry): Property {
  const [from = "", to] = [entry.get("DTSTART")?.[0]?.value, end.value];
  if (!/^\d{8} \d{8}$/.test(`${from} ${to}`) || to <= from) return end;
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(to) ?? [];
  const last = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day) - 1));
  return { ...end, value: last.toISOString().slice(0, 10) };
}

function valueOf({ name, parameters, value }: Property): string {
  if (DATES.has(name)) {
    const zone = /;TZID="?([^":;]*)/i.exec(parameters)?.[1];
    const dates = value.split(",").map(dateOf).join(", ");
    return zone === undefined ? dates : `${dates} (${zone})`;
  }
  if (!PERSONS.has(name)) return unescaped(value).trim();
  const person = /;CN=(?:"([^"]*)"|([^:;]*))/i.exec(parameters);
  const address = value.replace(/^mailto:/i, "");
  const called = person?.[1] ?? person?.[2] ?? "";
  const answer = /;PARTSTAT=([\w-]+)/i.exec(parameters)?.[1];
  const who = called === "" || called === address ? address : `${called} <${address}>`;
  return answer === undefined ? who : `${who} (${answer.toLowerCase()})`;
}

/** `20260502T093000Z` is 2026-05-02 09:30 UTC. */
function dateOf(value: string): string {
  const parts = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?$/.exec(value.trim());
  if (parts === null) return value;
  const [, year = "", month = "", day = "", hour, minute = "", , utc] = parts;
  const time = hour === undefined ? "" : ` ${hour}:${minute}${utc === undefined ? "" : " UTC"}`;
  return `${year}-${month}-${day}${time}`;
}

const unescaped = (value: string): string =>
  value.replaceAll(/\\([nN,;\\:"])/g, (_, character: string) =>
    character.toLowerCase() === "n" ? "\n" : character,
  );
