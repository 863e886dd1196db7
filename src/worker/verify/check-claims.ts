import { countPieces } from "../evidence/number.ts";
import { checkAnswer, NOTHING_CHECKED } from "./check-answer.ts";
import type { AnswerRules, CheckableReply, CheckedAnswer } from "./check-answer.ts";
import { readClaimsReply } from "./claims-reply.ts";
import type { ClaimsForm } from "./claims-reply.ts";

/** A checked answer, and the form in which it was read; null where claims were not requested, or it is a tool call. */
type FormedAnswer = {
  readonly kind: "checked";
  readonly answer: CheckedAnswer;
  readonly form: "claims" | "prose" | null;
};

export type FormlessReply = { readonly kind: "formless"; readonly why: "cut" | "ignored" };

/**
 * Checks a reply by the rules for answers, in the requested form; null for prose. Prose instead of requested claims is accepted
 * if it keeps the rules. Pure.
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
      // A complete JSON object was not cut, even if the text behind it was.
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

/** Whether the host did not enforce the requested claims: the reply is prose, even if right, or another object. */
export const isFormIgnored = (checked: FormedAnswer | FormlessReply): boolean =>
  checked.kind === "formless" ? checked.why === "ignored" : checked.form === "prose";

/** The fault of a reply that is no list of claims. */
export const noClaimsFault = ({ why }: FormlessReply): { code: "NO_CLAIMS"; message: string } => ({
  code: "NO_CLAIMS",
  message: NO_CLAIMS[why],
});

const NO_CLAIMS = {
  cut: "It was cut off before its JSON ended. Be shorter.",
  ignored: "It is no JSON object with claims.",
} as const;
