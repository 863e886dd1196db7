import type { Queryable } from "../../shared/store/connection/database.ts";
import { selectRefusedBudgets } from "../../shared/store/hosts/budgets.ts";
import { selectHosts } from "../../shared/store/hosts/hosts.ts";
import type { HostState } from "../../shared/store/hosts/hosts.ts";
import { formatInZone } from "../../shared/time.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** What the workers found out about the model hosts, and which batches are held by a budget. */
export async function checkHosts(db: Queryable, zone: string | null): Promise<readonly Check[]> {
  const hosts = await selectHosts(db);
  const refused = await selectRefusedBudgets(db);
  return [
    ...hosts.map((host) => checkHost(host, zone)),
    ...refused.map(({ batch, refusedBy, tokensNeeded }) =>
      warn(
        "DOCTOR_BUDGET_USED_UP",
        `Batch ${JSON.stringify(batch)} is held: the budget of the ${refusedBy} has no room for its next call, which may take ${tokensNeeded} tokens.`,
        refusedBy === "batch"
          ? `See which limit to raise: nightdesk batch budget ${JSON.stringify(batch)}`
          : "Raise budgets.night and start the workers again, or wait for the next night.",
      ),
    ),
  ];
}

function checkHost(
  { host, capacity, capacityReason, state, ...more }: HostState,
  zone: string | null,
): Check {
  if (state === "closed") {
    return ok("DOCTOR_HOST_OK", `${host} gets ${capacity} at once (${capacityReason}).`);
  }
  const { openedAt, nextTryAt, errorMessage } = more;
  return warn(
    "DOCTOR_HOST_DOWN",
    `${host} is down since ${timeOf(openedAt, zone)}, and its jobs are held. ${errorMessage ?? ""}`.trim(),
    `Start it. A worker asks it again at ${timeOf(nextTryAt, zone)}, and goes on by itself.`,
  );
}

function timeOf(time: Date | null, zone: string | null): string {
  if (time === null) return "an unknown time";
  return zone === null ? time.toISOString() : formatInZone(time, zone, "seconds");
}
