/** What a report of a batch begins with, in both forms: by it a newer report knows the one that it may replace. */
export const reportMarker = (batchId: string): string =>
  `<!-- nightdesk report of batch ${batchId} -->`;
