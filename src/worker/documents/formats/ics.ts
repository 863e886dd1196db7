import { decodeBytes } from "../encoding.ts";
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

/** Calendars: each appointment, task or note under its title, a line for each thing that is known of it. */
export function readIcs(bytes: Buffer, limits: TextLimits): Extraction {
  const { text, encoding } = decodeBytes(bytes, limits.encoding) ?? { text: "", encoding: "" };
  const builder = openTextBuilder(limits);
  const count = countEntries("lines", limits);
  let isCalendar = false;
  let entries = 0;
  let attachments = 0;
  let calendar: string | undefined;
  let entry: Map<string, Property[]> | undefined;
  /** Parts within an entry, such as alarms, tell nothing of it. */
  let inner = 0;
  for (const { name, parameters, value } of propertiesOf(text)) {
    count();
    const part = value.toUpperCase();
    if (name === "BEGIN") {
      if (part === "VCALENDAR") isCalendar = true;
      if (entry !== undefined) inner += 1;
      else if (ENTRIES.has(part)) entry = new Map();
    } else if (name === "END") {
      if (inner > 0) inner -= 1;
      else if (entry !== undefined) {
        builder.add(entryText(entry));
        entry = undefined;
        entries += 1;
      }
    } else if (entry === undefined) {
      if (name === "X-WR-CALNAME") calendar = unescaped(value);
    } else if (inner === 0) {
      if (name === "ATTACH") attachments += 1;
      const same = entry.get(name);
      if (same === undefined) entry.set(name, [{ name, parameters, value }]);
      else same.push({ name, parameters, value });
    }
  }
  if (!isCalendar) {
    throw new NoText("FILE_FORMAT_INVALID", "is no calendar: export it anew as .ics.");
  }
  const metadata = {
    ...(calendar === undefined ? {} : { title: calendar }),
    ...(encoding === "utf-8" ? {} : { encoding }),
    entries,
  };
  return { ...builder.finish(metadata), ...countedOut({ attachments }) };
}

/** Lines that go on in the next one begin there with a blank. */
function* propertiesOf(text: string): Generator<Property> {
  for (const line of text.replaceAll(/\r?\n[ \t]/g, "").split(/\r?\n/)) {
    const match = /^([\w-]+)((?:;[^=:;]+=(?:"[^"]*"|[^:;"]*))*):(.*)$/s.exec(line);
    if (match === null) continue;
    const [, name = "", parameters = "", value = ""] = match;
    yield { name: name.toUpperCase(), parameters, value };
  }
}

function entryText(entry: ReadonlyMap<string, readonly Property[]>): string {
  const title = unescaped(entry.get("SUMMARY")?.[0]?.value ?? "(no title)");
  const lines = FIELDS.flatMap(([name, label]) => {
    const values = (entry.get(name) ?? []).map(valueOf).filter(Boolean);
    return values.length === 0 ? [] : [`${label}: ${values.join(", ")}`];
  });
  return `## ${title.replaceAll(/\s+/g, " ").trim()}\n\n${lines.join("\n")}\n\n`;
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
