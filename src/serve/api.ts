import type { IncomingMessage } from "node:http";
import type { Config } from "../shared/config/schema.ts";
import type { Logger } from "../shared/logger.ts";
import type { Database } from "../shared/store/connection/database.ts";
import type { Token, TokenScope } from "../shared/store/programs/tokens.ts";
import type { Turns } from "../shared/take-turns.ts";

/** Everything that routes need. */
export type Api = {
  readonly config: Config;
  readonly database: Database;
  readonly logger: Logger;
  /** Limits uploads at once. */
  readonly uploads: Turns;
  /** Limits batches whose lines are read at once. */
  readonly loads: Turns;
};

/** An authenticated request. */
export type ApiRequest = {
  /** The x-request-id of the reply, under which the log has its faults. */
  readonly requestId: string;
  readonly token: Token;
  /** A parameter of the path by its name in the route. */
  readonly part: (name: string) => string;
  readonly query: URLSearchParams;
  readonly header: (name: string) => string | undefined;
  /** For streaming a body. */
  readonly incoming: IncomingMessage;
  /** The body as JSON. */
  readonly json: () => Promise<unknown>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
};

export type Answer =
  | { readonly kind: "json"; readonly value: object }
  | {
      readonly kind: "stream";
      readonly type: string;
      readonly chunks: AsyncIterable<string | Uint8Array>;
    };

export type Route = {
  readonly method: "get" | "post" | "delete";
  /** Parameters begin with a colon. */
  readonly path: string;
  readonly scope: TokenScope;
  readonly answer: (api: Api, request: ApiRequest) => Promise<Answer>;
};

export const json = (value: object): Answer => ({ kind: "json", value });
