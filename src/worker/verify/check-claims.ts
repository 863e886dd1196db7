import { countPieces } from "../evidence/number.ts";
import { checkAnswer, NOTHING_CHECKED } from "./check-answer.ts";
import type { AnswerRules, CheckableReply, CheckedAnswer } from "./check-answer.ts";
import { readClaimsReply } from "./claims-reply.ts";
import type { ClaimsForm } from "./claims-reply.ts";

/** A checked answer, and as what it was read; nothing where it was asked for as text. */
type FormedAnswer = {
  readonly kind: "checked";
  readonly answer: CheckedAnswer;
  readonly form: "claims" | "prose" | null;
};

export type FormlessReply = { readonly kind: "formless"; readonly why: "cut" | "ignored" };

/**
 * Holds a reply against the rules for answers, in the form that it was asked for in: null of one in prose. Prose where
 * claims were asked for is taken if it keeps the rules. Pure.
 */
export function checkInForm(
  reply: CheckableReply,
  rules: AnswerRules,
  form: ClaimsForm | null,
): FormedAnswer | FormlessReply {
  if (form === null) return { kind: "checked", answer: checkAnswer(reply, rules), form };
  const read = readClaimsReply(reply, countPieces(rules.evidence), form);
  switch (read.kind) {
    case "claims": {
      const { text, claims } = read;
      // What ends as it should was not cut, whatever followed it.
      const put = { ...reply, text, doneReason: "stop" } as const;
      return { kind: "checked", answer: checkAnswer(put, rules, claims), form: "claims" };
    }
    case "declined": {
      const answer = { kind: "declined", checks: NOTHING_CHECKED } as const;
      return { kind: "checked", answer, form: "claims" };
    }
    case "formless":
      return read;
    case "call":
      return { kind: "checked", answer: checkAnswer(reply, rules), form: null };
    case "prose": {
      const answer = checkAnswer(reply, rules);
      return answer.kind === "violated"
        ? { kind: "formless", why: "ignored" }
        : { kind: "checked", answer, form: "prose" };
    }
  }
}

/** Words where claims were asked for, right as they may be, or another object: the host did not hold the model to them. */
export const isIgnored = (checked: FormedAnswer | FormlessReply): boolean =>
  checked.kind === "formless" ? checked.why === "ignored" : checked.form === "prose";

/** What is wrong with a reply that is no list of claims. */
export const noClaims = ({ why }: FormlessReply): { code: "NO_CLAIMS"; message: string } => ({
  code: "NO_CLAIMS",
  message: NO_CLAIMS[why],
});

const NO_CLAIMS = {
  cut: "It was cut off before its JSON ended. Be shorter.",
  ignored: "It is no JSON object with claims.",
} as const;
