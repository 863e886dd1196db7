import type { HoldReason } from "../../shared/db/jobs/holds.ts";
import { describeMoment } from "./describe-moment.ts";

export type Held = {
  readonly name: string;
  readonly holdReason: HoldReason | null;
  readonly holdUntil: Date | null;
};

/** `held: window, until 2026-11-21 22:00 CET (2026-11-21 21:00:00Z)`. */
export function describeHold({ holdReason, holdUntil }: Omit<Held, "name">): string {
  const until = holdUntil === null ? "" : `, until ${describeMoment(holdUntil)}`;
  return `held: ${holdReason ?? ""}${until}`;
}

/** What to run so that a held batch goes on; undefined where it can only be waited for. */
export function holdRemedy({ name, holdReason, holdUntil }: Held): string | undefined {
  const quoted = JSON.stringify(name);
  switch (holdReason) {
    case "paused":
      return `to go on: nightdesk batch resume ${quoted}`;
    case "window":
      return `to run it now: nightdesk batch set ${quoted} --no-windows`;
    case "budget":
      // Only a night's has an end.
      return holdUntil === null
        ? `to see and raise its budget: nightdesk batch budget ${quoted}`
        : "it goes on then; or raise budgets.night and start the workers again";
    case "host":
      return "it goes on when its model host is back: nightdesk doctor";
    case null:
      return undefined;
  }
}
