import { listedHosts } from "../../shared/config/hosts.ts";
import type { HostPlace } from "../../shared/config/hosts.ts";
import type { HostSettings } from "../../shared/config/hosts-schema.ts";
import type { Config } from "../../shared/config/schema.ts";
import { HostFailure } from "../../shared/failure.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import { isLoopbackHost } from "../../shared/http/network-address.ts";
import { LIST_ROUTE, listModels } from "../models/ask-route.ts";
import { isLocked } from "../models/host-failure.ts";
import type { HostAccess } from "../models/host-access.ts";
import { accessByHost } from "../models/host-access.ts";
import { HostError, textAt, wiresAt } from "../models/host-request.ts";
import type { Wire } from "../models/host-request.ts";
import { ProxyRefused } from "../models/open-request.ts";
import { tlsFailure } from "../models/tls-failure.ts";
import { fail, ok, warn, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

const TIMEOUT_MS = 5_000;

/** Calls each entry of `hosts` as a worker on this machine would: checks its key, its answer, and its configured models. */
export async function checkListedHosts(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Check[]> {
  const accessOf = accessByHost(config, env);
  const checks = await Promise.all(
    listedHosts(config).map(async (place) => {
      const settings = config.hosts.find(({ name }) => name === place.entry.name);
      return [
        ...(settings === undefined ? [] : checkClearText(settings)),
        ...(await checkHost(place, accessOf(place.host))),
      ];
    }),
  );
  return checks.flat();
}

async function checkHost(place: HostPlace, access: HostAccess): Promise<readonly Check[]> {
  const { host, provider, entry } = place;
  const name = entry?.name ?? host;
  try {
    await access();
  } catch (error) {
    return [
      fail(
        "DOCTOR_HOST_KEY",
        wordsOf(error),
        "Give the worker the key, or mend the entry in hosts.",
      ),
    ];
  }
  let listed: Wire | null;
  try {
    listed = await listModels(host, provider, AbortSignal.timeout(TIMEOUT_MS), access);
  } catch (error) {
    return [unreachableHost(name, host, error)];
  }
  if (listed === null) {
    const said = new Error(`it says nothing at ${LIST_ROUTE[provider]}`);
    return [unreachableHost(name, host, said)];
  }
  return [ok("DOCTOR_HOST_OK", `${name} (${host}) answers.`), ...checkModels(place, listed)];
}

function unreachableHost(name: string, host: string, error: unknown): Check {
  if (error instanceof HostError && isLocked(error)) {
    return fail(
      "DOCTOR_HOST_KEY",
      `${name} (${host}) lets nobody in with its key (HTTP ${error.status}).`,
      "Look at key_env or key_file of the entry in hosts.",
    );
  }
  const ofTls = tlsFailure(codeOf(error) ?? "", { baseUrl: host, entry: name });
  if (ofTls !== null) return fail("DOCTOR_HOST_UNREACHABLE", ofTls.message, ofTls.remedy);
  const isOfProxy = error instanceof ProxyRefused;
  const words = error instanceof HostFailure || isOfProxy ? error.message : reasonOf(error);
  const start = isOfProxy
    ? "Look at its proxy in hosts"
    : "Start the server there, or change its url in hosts";
  return fail(
    "DOCTOR_HOST_UNREACHABLE",
    `${name} (${host}) does not answer (${words}).`,
    `${start}; --no-ollama skips this check. Its jobs go to other hosts that have their model.`,
  );
}

const codeOf = (error: unknown): string | null => (isRecord(error) ? textAt(error, "code") : null);

/** Prefers the code: a connection that failed at several addresses has an error without a message. */
const reasonOf = (error: unknown): string => {
  const code = codeOf(error);
  const words = wordsOf(error);
  return words === "" || (code !== null && !words.includes(code)) ? (code ?? "no reason") : words;
};

function checkModels({ host, entry }: HostPlace, listed: Wire): readonly Check[] {
  if (entry === undefined || entry.models === null) return [];
  const there = [...wiresAt(listed, "data"), ...wiresAt(listed, "models")].flatMap(namesOf);
  return [...entry.models.values()]
    .filter((model) => !there.includes(model) && !there.includes(`${model}:latest`))
    .map((model) =>
      fail(
        "DOCTOR_MODEL_MISSING",
        `${entry.name} (${host}) has no model ${model}, which hosts says that it serves.`,
        "Load it there, or take it out of models of the entry.",
      ),
    );
}

const namesOf = (model: Wire): readonly string[] => {
  const { aliases } = model;
  return [
    ...["id", "name", "model"].flatMap((key) => textAt(model, key) ?? []),
    ...(Array.isArray(aliases) ? aliases.filter((alias) => typeof alias === "string") : []),
  ];
};

function checkClearText({ name, url, key_env, key_file }: HostSettings): readonly Check[] {
  if (key_env === undefined && key_file === undefined) return [];
  if (!url.trim().toLowerCase().startsWith("http:")) return [];
  if (isLoopbackHost(new URL(url.trim()).hostname)) return [];
  return [
    warn(
      "DOCTOR_HOST_KEY_CLEARTEXT",
      `The key of ${name} goes over the network unencrypted: its url begins with http.`,
      "Put TLS in front of it, and name its certificate as ca_file where it is your own.",
    ),
  ];
}
