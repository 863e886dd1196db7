/** The tools of `nightdesk mcp`, in the order that clients see. None of them decides on an approval. */
export const MCP_TOOLS = [
  "search_index",
  "get_document",
  "list_batches",
  "get_run",
  "get_claims",
  "search_results",
  "queue_stats",
  "list_approvals",
  "submit_job",
] as const;

/** Kinds of jobs that `submit_job` may queue beside investigations, if `mcp.submit_kinds` names them. */
export const SUBMIT_KINDS = ["ask", "summarize", "extract"] as const;
