/** The section `coder`: how coderd is reached. */
import * as z from 'zod';
import { coderUrlProblem, proxyUrlProblem } from './coder-url.ts';
import { secretRef } from './secret-ref.ts';

export const coder = z
  .strictObject({
    url: urlWith(coderUrlProblem)
      .meta({
        description: 'URL of coderd, without a path. https; http for loopback hosts only.',
        format: 'uri',
        pattern: '^https?://',
        examples: ['https://coder.example.com'],
      })
      .transform((text) => new URL(text).origin),
    token: secretRef(
      'Secret with the API token that reads jobs, daemons, workspaces and templates; its user needs the organization template admin role in every organization named below.',
      'coder/autoscaler-token',
    ),
    caBundle: z
      .string()
      .regex(/\S/, 'is not a path')
      .meta({
        description:
          'PEM file with the certificates to trust for coderd beside the public ones, relative to this file: by function, command line and tasks with a guard.',
        examples: ['./corp-ca.pem'],
      })
      .optional(),
    proxy: urlWith(proxyUrlProblem)
      .meta({
        description:
          'URL of the HTTP proxy through which function and command line reach coderd. The provisioners have their own, in `environment`.',
        format: 'uri',
        pattern: '^http://',
        examples: ['http://proxy.example.com:3128'],
      })
      .transform((text) => new URL(text).origin)
      .optional(),
  })
  .meta({
    description: 'How to reach coderd.',
    examples: [{ url: 'https://coder.example.com', token: { secret: 'coder/autoscaler-token' } }],
  });

function urlWith(problemOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}
