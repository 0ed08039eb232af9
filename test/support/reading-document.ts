export type ReadingDocument = {
  status: string;
  takenAt?: string;
  limit?: number;
  tookMs?: number;
  error?: string;
  items: Record<string, unknown>[];
};
