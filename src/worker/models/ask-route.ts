import { Failure, HostFailure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import { withDeadline } from "./deadline.ts";
import { hostFailure, isLocked, saysModelMissing } from "./host-failure.ts";
import type { ModelHost } from "./host-failure.ts";
import { askHost, HostError, parseWire, readText } from "./host-request.ts";
import { OPEN_ACCESS } from "./host-access.ts";
import type { HostAccess } from "./host-access.ts";
import type { Wire } from "./host-request.ts";

/**
 * Asks one route of a host; null if it has no such route, or answers with no JSON object.
 * Throws what askHost throws for a host that is down, busy, broken or locked, or that does not have the model.
 *
 * @param body of a POST; null for a GET
 */
export const askRoute = (
  url: string,
  body: Wire | null,
  signal: AbortSignal,
  access: HostAccess = OPEN_ACCESS,
): Promise<Wire | null> =>
  unlessMissing(async () => {
    const json = body === null ? null : JSON.stringify(body);
    return parseWire(await readText(await askHost(url, json, signal, access)));
  });

/** The same for an optional GET: null also if a proxy denies access. */
export const askOptionalRoute = (
  url: string,
  signal: AbortSignal,
  access: HostAccess = OPEN_ACCESS,
): Promise<Wire | null> => unlessLocked(askRoute(url, null, signal, access));

/** The reply to a client's call of a route; null if the host has no such route, or answers with no JSON object. */
export async function unlessMissing(call: () => Promise<object | null>): Promise<Wire | null> {
  try {
    const said = await call();
    return isRecord(said) ? said : null;
  } catch (error) {
    if (error instanceof HostError && hasNoRoute(error)) return null;
    if (error instanceof Failure && error.code === "MODEL_OUTPUT_INVALID") return null;
    throw error;
  }
}

/** The same reply; null also if a proxy denies access. */
export const unlessLocked = (said: Promise<Wire | null>): Promise<Wire | null> =>
  said.catch((error: unknown) => {
    if (error instanceof HostError && isLocked(error)) return null;
    throw error;
  });

/** The route on which a host lists its models. */
export const LIST_ROUTE = { ollama: "/api/tags", "openai-compatible": "/v1/models" } as const;

/** The list of a host's models: it costs the host nothing, and only a model host answers it. */
export const listModels = (
  baseUrl: string,
  provider: keyof typeof LIST_ROUTE,
  signal: AbortSignal,
  access: HostAccess = OPEN_ACCESS,
): Promise<Wire | null> =>
  provider === "ollama"
    ? unlessMissing(async () => {
        const { ollamaClient } = await import("./ollama-client.ts");
        return ollamaClient(baseUrl, signal, access).list();
      })
    : askRoute(`${baseUrl}${LIST_ROUTE[provider]}`, null, signal, access);

const hasNoRoute = (error: HostError): boolean =>
  error.status < 500 &&
  error.status !== 429 &&
  !isLocked(error) &&
  !saysModelMissing(error.message);

const PROBE_TIMEOUT_MS = 30_000;

/**
 * Asks a host what it knows of a model. Throws MODEL_UNREACHABLE if it does not answer within 30 s, and what hostFailure
 * throws; a refusal makes no sense in a probe, and becomes INTERNAL_ERROR.
 */
export async function probeHost<Probe>(
  host: ModelHost,
  signal: AbortSignal,
  ask: (until: AbortSignal) => Promise<Probe>,
): Promise<Probe> {
  const limits = { signal, timeoutMs: PROBE_TIMEOUT_MS, late: () => probeTimeout(host) };
  try {
    return await withDeadline(limits, ask);
  } catch (error) {
    signal.throwIfAborted();
    const { message } = probeFailure(error, host);
    throw new Failure("INTERNAL_ERROR", message, { cause: error });
  }
}

/** Throws what hostFailure throws, without `brokeOff`: no job has sent anything yet that could have crashed the host. */
function probeFailure(error: unknown, host: ModelHost): Refusal {
  try {
    return hostFailure(error, host);
  } catch (failure) {
    if (!(failure instanceof HostFailure) || !failure.brokeOff) throw failure;
    throw new HostFailure("MODEL_UNREACHABLE", failure.message, {
      host: failure.host,
      cause: error,
    });
  }
}

const probeTimeout = ({ baseUrl }: ModelHost): Failure =>
  new Failure(
    "MODEL_UNREACHABLE",
    `${baseUrl} did not say within ${PROBE_TIMEOUT_MS / 1000} s what it knows of its models.`,
  );
