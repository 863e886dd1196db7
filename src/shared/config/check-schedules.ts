import { checkSchedule } from "../schedules/check-schedule.ts";
import { configuredSchedules } from "../schedules/configured-schedules.ts";
import { addressOfHost, networkKindOf, networksOf } from "../network-address.ts";
import type { KeyPath } from "./dotted-key.ts";
import { maskWebhook } from "./mask-webhook.ts";
import type { ConfigValues } from "./schema.ts";

/** What is wrong with one key in the light of others; `text` follows the key. */
export type Conflict = { readonly path: KeyPath; readonly text: string };

/**
 * What would keep schedules from running. Of one that is switched off only the name is looked at here, because every
 * command reads the configuration: a worker looks at all of it when it starts, and so does `schedule enable`.
 */
export function checkSchedules(values: ConfigValues): Conflict[] {
  const entries = configuredSchedules(values);
  const names = entries.map(({ name }) => name);
  return entries.flatMap((entry, position) => {
    if (names.indexOf(entry.name) !== position) {
      const text = `is "${entry.name}" like an entry before; expected a name of its own`;
      return [{ path: ["schedules", position, "name"], text }];
    }
    if (!entry.enabled) return [];
    return checkSchedule(entry).map(({ key, text }) => ({
      path: ["schedules", position, key],
      text: `of "${entry.name}" ${text}`,
    }));
  });
}

/** Where the end of a batch is told. Where a name leads is looked at when it is called. */
export function checkWebhook({ on_batch_end }: ConfigValues): Conflict[] {
  const { webhook, allowed_networks } = on_batch_end;
  if (webhook === null) return [];
  const path = ["on_batch_end", "webhook"];
  const url = URL.canParse(webhook) ? new URL(webhook) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    return [
      { path, text: `is ${maskWebhook(webhook)}; expected http://host/path or https://host/path` },
    ];
  }
  const address = addressOfHost(url.hostname);
  if (address === undefined || networkKindOf(address) === "public") return [];
  if (networksOf(allowed_networks).has(address)) return [];
  const text =
    `is ${maskWebhook(webhook)}, a ${networkKindOf(address)} address; expected a public one, or its network in ` +
    `on_batch_end.allowed_networks, like [${address}]`;
  return [{ path, text }];
}
