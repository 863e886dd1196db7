import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { execute, oneRowOf } from "../connection/rows.ts";

/** A call of a host of the web; all workers share its rate limit. */
export type WebPlace = {
  /** Identifies the call among all workers. */
  readonly ticket: string;
  /** Base URL of a search provider, or `web pages` for all of them together. */
  readonly host: string;
};

const takenSchema = z.object({
  outcome: z.enum(["taken", "busy", "open"]),
  seconds: z.coerce.number(),
  message: z.string().nullable(),
});
/**
 * taken: the call may be made in `seconds`. busy: it would have to wait for `seconds`, which is too long. open: the host is given
 * up for `seconds`, or another process probes it.
 */
type TakenWebCall = z.infer<typeof takenSchema>;

/**
 * Takes the next turn of a host: turns are a fixed time apart, for all workers together. For a host that is given up, one call
 * goes through after its pause.
 */
export const takeWebCall = (
  db: Queryable,
  { ticket, host }: WebPlace,
  pace: { readonly perMinute: number; readonly longestWaitMs: number },
): Promise<TakenWebCall> =>
  oneRowOf(
    db,
    takenSchema,
    [ticket, host, pace.perMinute, pace.longestWaitMs / 1_000],
    "take_web_call",
  )`select * from nightdesk_data.take_web_call($1, $2, $3, $4)`;

/** How a call ended. busy: the host asked for a pause, of `retryAfterS` seconds if it named a time. */
export type WebCallEnd =
  | { readonly kind: "answered" }
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "busy"; readonly message: string; readonly retryAfterS: number | null };

/** Records how a call ended. @param mostFailures consecutive failures after which the host is given up */
export async function endWebCall(
  db: Queryable,
  { ticket, host }: WebPlace,
  end: WebCallEnd,
  mostFailures: number,
): Promise<void> {
  const message = end.kind === "answered" ? null : end.message.slice(0, 1_000);
  const retryAfterS = end.kind === "busy" ? end.retryAfterS : null;
  await execute(db, [ticket, host, end.kind, message, retryAfterS, mostFailures], "end_web_call")`
     select nightdesk_data.end_web_call($1, $2, $3, $4, $5, $6)`;
}
