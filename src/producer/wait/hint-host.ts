import { connect } from "node:net";
import type { CommandContext } from "../../shared/command-context.ts";
import { modelBaseUrl } from "../../shared/config/model-base-url.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/db/database.ts";
import { selectAliveWorkers } from "../../shared/db/jobs/workers.ts";

/** Within which a host of one's own network has taken a connection, or will not. */
const ANSWER_WITHIN_MS = 2_000;

/**
 * Says at once what keeps `--ollama-base-url` from being asked: the configuration needs no host, the host takes no
 * connection, or a worker is alive that asks another. Nothing where the flag was not given.
 */
export async function hintHost(context: CommandContext, database: Database): Promise<void> {
  const { config, terminal, invocation } = context;
  if (invocation.options["ollamaBaseUrl"] === undefined) return;
  if (!asksHost(config)) {
    terminal.say(
      "The configured model is extractive and asks no host: --ollama-base-url changes nothing. To use one: model.provider",
    );
    return;
  }
  const url = modelBaseUrl(config);
  const fault = await findFault(url);
  if (fault !== undefined) {
    terminal.say(
      `${url} does not answer (${fault}); what is queued waits until it does. Start the host there, or give another --ollama-base-url`,
    );
  }
  const other = await findOtherHost(config, database, url);
  if (other !== undefined) {
    terminal.say(
      `A worker that runs asks ${other}, not ${url}: stop it, and start it again with: nightdesk worker --ollama-base-url ${url}`,
    );
  }
}

/** Whether work of this configuration goes to a host at all. */
export const asksHost = ({ model, embed }: Config): boolean =>
  model.provider !== "extractive" || embed.provider === "ollama";

/** A host that a live worker asks instead. */
async function findOtherHost(
  { model }: Config,
  database: Database,
  url: string,
): Promise<string | undefined> {
  const workers = await selectAliveWorkers(database);
  return (
    workers
      .map(({ modelHost, embedderHost }) =>
        model.provider === "extractive" ? embedderHost : modelHost,
      )
      .find((host) => host !== null && host !== url) ?? undefined
  );
}

/** Why nobody takes a connection at `scheme://host[:port]`; undefined where somebody does. */
async function findFault(url: string): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(url);
  const socket = connect({
    // The address of a URL stands in brackets where it is of IPv6.
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
  });
  try {
    return await new Promise((resolve) => {
      socket.once("connect", () => {
        resolve(undefined);
      });
      socket.once("error", ({ code, message }: NodeJS.ErrnoException) => {
        resolve(code ?? message);
      });
      socket.setTimeout(ANSWER_WITHIN_MS, () => {
        resolve(`nothing within ${ANSWER_WITHIN_MS / 1_000} s`);
      });
    });
  } finally {
    socket.destroy();
  }
}
