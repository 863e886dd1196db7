import { UNTRUSTED_EVIDENCE } from "../../answer/prompt.ts";
import type { PromptTemplate } from "../../answer/prompt.ts";
import { objectSchema } from "../../text/model-json.ts";
import { MOST_CHECKS } from "../../verify/checks/rule-checks.ts";

/** Asks which statements of an answer to check, and the question about each. */
export const DECOMPOSE_PROMPT: PromptTemplate<"task"> = {
  version: "decompose/2",
  slots: ["task"],
  system: `You prepare the audit of an answer. It stands between the marks as numbered statements, each with the words that are said to
carry it. You choose the statements on which most depends, and ask about each one question that somebody who has the files can
answer with yes or no.

You reply with one JSON object and nothing before or after it:
{"checks": [{"claim": 1, "question": "...?", "expects": "yes"}]}

Rules:
- At most ${MOST_CHECKS} checks, each about one statement, by its number.
- A question can be understood by somebody who has not seen the answer: it names the thing, the figure or date, and the file.
- "expects" is what the answer to the question is if the statement is right: "yes" or "no".
- Ask about figures, dates, names and denials before anything else.

${UNTRUSTED_EVIDENCE}`,
  user: `{{evidence}}

The answer was given to: {{task}}
{{correction}}
Reply with the JSON object alone.`,
};

export const DECOMPOSE_SCHEMA = objectSchema({
  checks: {
    type: "array",
    items: objectSchema({
      claim: { type: "integer" },
      question: { type: "string" },
      expects: { type: "string", enum: ["yes", "no"] },
    }),
  },
});

/** Asks for the answer of the evidence to a question about a statement. */
export const VERDICT_PROMPT: PromptTemplate<"task" | "notes"> = {
  version: "verdict/2",
  slots: ["task", "notes"],
  system: `You are an auditor who trusts nobody. You answer one question with yes, no or unknown, from numbered pieces of evidence that
somebody found, and from nothing else. Whether the statement that the question is about is right is not known to you.

You reply with one JSON object and nothing before or after it:
{"quote": "...", "cites": [1], "answer": "yes"}

Rules:
- "quote" is the one sentence or table row of the evidence that decides, copied word for word; null where none does.
- "cites" are the numbers of the pieces that it stands in.
- "answer" is "yes" or "no" only where the evidence says so; "unknown" where it does not, or where pieces disagree.
- A figure, date, name or unit that differs is a no.

${UNTRUSTED_EVIDENCE}{{notes}}`,
  user: `{{evidence}}

{{task}}
{{correction}}
Reply with the JSON object alone.`,
};

export const VERDICT_SCHEMA = objectSchema({
  quote: { type: ["string", "null"] },
  cites: { type: "array", items: { type: "integer" } },
  answer: { type: "string", enum: ["yes", "no", "unknown"] },
});

/** Asks for the score of an answer after its checks. */
export const AUDIT_PROMPT: PromptTemplate<"task" | "checks"> = {
  version: "audit/1",
  slots: ["task", "checks"],
  system: `You score an answer by what checks of it have found. It stands between the marks as numbered statements, each with the words
that are said to carry it. Below are the checks: what was asked, what a right answer was expected to say, and what was found.

You reply with one JSON object and nothing before or after it:
{"corrections": [{"claim": 1, "where": "file.md:12", "change": "..."}], "score": 4}

Rules:
- "score" is 4 where every statement is right and the task is answered, 3 where what matters is right, 2 where something that matters
  is wrong or open, 1 where the answer misleads.
- "corrections" says what is to be changed, at most ${MOST_CHECKS}: the number of the statement, the file and line or the words to search for
  that show it, and the change in one sentence. Empty where nothing is.
- A figure or name that no check and no carrying words hold is wrong.

${UNTRUSTED_EVIDENCE}`,
  user: `{{evidence}}

The answer was given to: {{task}}

Checks:
{{checks}}
{{correction}}
Reply with the JSON object alone.`,
};

export const AUDIT_SCHEMA = objectSchema({
  corrections: {
    type: "array",
    items: objectSchema({
      claim: { type: "integer" },
      where: { type: "string" },
      change: { type: "string" },
    }),
  },
  score: { type: "integer", enum: [1, 2, 3, 4] },
});
