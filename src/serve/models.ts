import { createModelNames } from "../shared/enqueue/model-names.ts";
import { ASK_MODEL } from "./completions.ts";
import { json } from "./door.ts";
import type { Door, DoorRequest, Route } from "./door.ts";

export const MODELS: readonly Route[] = [
  {
    method: "get",
    path: "/models",
    scope: "batches:read",
    answer: async (door, request) => json({ object: "list", data: modelObjects(door, request) }),
  },
];

/** The models that lines may name: those of the token, else of the configuration. */
function modelObjects({ config }: Door, { token }: DoorRequest): readonly object[] {
  const { known } = createModelNames(config, { override: undefined, names: "known" });
  const names = token.models.length === 0 ? known : token.models;
  const asked = token.kinds.includes("ask") ? [ASK_MODEL] : [];
  return [...asked, ...names].map((id) => ({
    id,
    object: "model",
    created: 0,
    owned_by: "nightdesk",
  }));
}
