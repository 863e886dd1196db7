/** Whether a name from disk holds what stands for bytes that are not UTF-8: nothing can be opened by it. */
export const hasLostBytes = (path: string): boolean => path.includes("\uFFFD");
