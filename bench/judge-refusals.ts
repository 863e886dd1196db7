import type { Answer, AskedMeeting } from "./judge-answers.ts";

const COMPANY = /^(?:Project Manager|Industrial Designer|User Interface|Marketing):/;
const LABORATORY = /^(?:PhD|Professor|Postdoc|Grad)\b/;

/** What kind of meeting it is, by who speaks: a company's, a laboratory's, or a parliament's. */
function kindOf({ turns }: AskedMeeting): string {
  const opening = turns.slice(0, 60);
  if (opening.some((turn) => COMPANY.test(turn))) return "company";
  return opening.some((turn) => LABORATORY.test(turn)) ? "laboratory" : "parliament";
}

/** Prints how often an answerer declines the questions of a meeting when it is given a meeting of another kind. */
export function judgeRefusals(
  name: string,
  meetings: readonly AskedMeeting[],
  answer: Answer,
): void {
  let [declined, asked] = [0, 0];
  for (const meeting of meetings) {
    const others = meetings.filter((other) => kindOf(other) !== kindOf(meeting));
    for (const { question } of meeting.specific) {
      for (const { candidates } of others) {
        asked += 1;
        if (answer(candidates, question, 1).length === 0) declined += 1;
      }
    }
  }
  console.log(
    `${name.padEnd(24)} declined ${(declined / asked).toFixed(3)} of ${asked} questions put to a meeting of another kind`,
  );
}
