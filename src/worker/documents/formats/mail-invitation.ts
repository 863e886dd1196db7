/** What an invitation says, in the order in which it is written. */
const MEMBERS: Readonly<Record<string, string>> = {
  SUMMARY: "Summary",
  DTSTART: "Start",
  DTEND: "End",
  DUE: "Due",
  DURATION: "Duration",
  RRULE: "Repeats",
  LOCATION: "Location",
  STATUS: "Status",
  ORGANIZER: "Organizer",
  ATTENDEE: "Attendee",
  DESCRIPTION: "Description",
};
const ORDER = Object.keys(MEMBERS);
const MOST_EVENTS = 100;
const MOST_MEMBERS = 300;

type Member = { readonly name: string; readonly line: string };

/** The events and tasks of a calendar (RFC 5545), a paragraph each, a line for each member; an empty text where it has none. */
export function invitationText(calendar: string): string {
  const method = /^METHOD:(\w{1,40})/m.exec(calendar)?.[1];
  const events: Member[][] = [];
  let open: Member[] | undefined;
  let inner = 0;
  for (const line of unfold(calendar)) {
    const [, name = "", parameters = "", value = ""] = LINE.exec(line) ?? [];
    if (name === "BEGIN") {
      if (open !== undefined) inner += 1;
      else if (/^V(?:EVENT|TODO)$/i.test(value)) events.push((open = []));
    } else if (name === "END") {
      if (inner > 0) inner -= 1;
      else open = undefined;
    } else if (open !== undefined && inner === 0 && open.length < MOST_MEMBERS) {
      const title = MEMBERS[name];
      if (title !== undefined)
        open.push({ name, line: `${title}: ${valueOf(name, parameters, value)}` });
    }
  }
  return events
    .slice(0, MOST_EVENTS)
    .map((members) => members.sort((one, other) => placeOf(one) - placeOf(other)))
    .map((members) => members.map(({ line }) => line))
    .map((lines) => [...(method === undefined ? [] : [`Method: ${method}`]), ...lines].join("\n"))
    .join("\n\n");
}

const placeOf = ({ name }: Member): number => ORDER.indexOf(name);

const LINE = /^([A-Z-]+)((?:;[\w-]+=(?:"[^"]*"|[^;:"]*))*):(.*)$/s;

/** A line that begins with a blank goes on with the one before. */
const unfold = (calendar: string): readonly string[] =>
  calendar.replaceAll(/\r?\n[ \t]/g, "").split(/\r?\n/);

function valueOf(name: string, parameters: string, value: string): string {
  const day = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z)?)?$/.exec(value);
  if (day !== null) {
    const [, year, month, date, hour, minute, isUtc] = day;
    const zone = isUtc === undefined ? parameterOf(parameters, "TZID") : "UTC";
    const time = hour === undefined ? "" : ` ${hour}:${minute}`;
    return `${year}-${month}-${date}${time}${zone === undefined ? "" : ` ${zone}`}`;
  }
  if (name === "ORGANIZER" || name === "ATTENDEE") {
    const address = value.replace(/^mailto:/i, "");
    const person = parameterOf(parameters, "CN");
    const answer = parameterOf(parameters, "PARTSTAT");
    const who = person === undefined || person === address ? address : `${person} <${address}>`;
    return answer === undefined ? who : `${who} (${answer.toLowerCase()})`;
  }
  return value
    .replaceAll(/\\([\\;,nN])/g, (_, mark: string) => (/n/i.test(mark) ? " " : mark))
    .replaceAll(/\s+/g, " ");
}

const parameterOf = (parameters: string, name: string): string | undefined =>
  new RegExp(`;${name}=(?:"([^"]*)"|([^;:"]*))`, "i").exec(parameters)?.slice(1).find(Boolean);
