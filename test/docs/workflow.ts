/** Reads a workflow of GitHub Actions with the keys that this project uses. */
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import * as z from 'zod';

/** Throws errors and warnings, such as a key that occurs twice. */
export function readYaml(file: string): unknown {
  const document = parseDocument(readFileSync(file, 'utf8'));
  for (const problem of [...document.errors, ...document.warnings]) throw problem;
  return document.toJS();
}

const Permissions = z.record(z.string(), z.enum(['read', 'write', 'none']));
const Job = z.strictObject({
  needs: z.string().optional(),
  if: z.string().optional(),
  outputs: z.record(z.string(), z.string()).optional(),
  'runs-on': z.string(),
  'timeout-minutes': z.int(),
  permissions: Permissions.optional(),
  steps: z.array(
    z
      .strictObject({
        name: z.string().optional(),
        id: z.string().optional(),
        'working-directory': z.string().optional(),
        uses: z.string().optional(),
        run: z.string().optional(),
        with: z.record(z.string(), z.unknown()).optional(),
        env: z.record(z.string(), z.string()).optional(),
        if: z.string().optional(),
      })
      .refine(({ uses, run }) => (uses === undefined) !== (run === undefined)),
  ),
});
export const Workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions: Permissions,
  concurrency: z.unknown().optional(),
  jobs: z.record(z.string(), Job),
});
