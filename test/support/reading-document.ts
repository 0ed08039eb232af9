export type ReadingDocument = {
  status: string;
  takenAt?: string;
  limit?: number;
  error?: string;
  items: Record<string, unknown>[];
};
