/** Rows that a client cannot read, in a list or in a page of one: `{ provisioner_daemons, count }`. */
import type { Answer } from './request.ts';

/** Fields that rows of jobs, daemons, workspaces and templates must have. */
const BROKEN = { tags: 7, template_id: 7, active_version_id: 7 };

/** Breaks the rows with these ids. */
export function withUnreadable(answer: Answer, ids: ReadonlySet<string>): Answer {
  const { body } = answer;
  if (ids.size === 0 || typeof body !== 'object' || body === null) return answer;
  const broken = (row: unknown): unknown =>
    typeof row === 'object' && row !== null && ids.has(String(Reflect.get(row, 'id')))
      ? { ...row, ...BROKEN }
      : row;
  if (Array.isArray(body)) return { ...answer, body: body.map(broken) };
  const page = Object.entries(body).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(broken) : value,
  ]);
  return { ...answer, body: Object.fromEntries(page) };
}
