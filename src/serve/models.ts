import { createModelNames } from "../shared/enqueue/model-names.ts";
import { ASK_MODEL } from "./completions.ts";
import { json } from "./api.ts";
import type { Api, ApiRequest, Route } from "./api.ts";

export const MODELS: readonly Route[] = [
  {
    method: "get",
    path: "/models",
    scope: "batches:read",
    answer: async (api, request) => json({ object: "list", data: modelObjects(api, request) }),
  },
];

/** The models that lines may name: those of the token, else of the configuration. */
function modelObjects({ config }: Api, { token }: ApiRequest): readonly object[] {
  const { known } = createModelNames(config, { override: undefined, names: "known" });
  const names = token.models.length === 0 ? known : token.models;
  const askModels = token.kinds.includes("ask") ? [ASK_MODEL] : [];
  return [...askModels, ...names].map((id) => ({
    id,
    object: "model",
    created: 0,
    owned_by: "nightdesk",
  }));
}
