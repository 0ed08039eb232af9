/** The archive of a template: Terraform that coderd parses, and a script that the daemon follows. */
import { pack } from 'tar-stream';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import type { Script } from './stage.ts';

export type TemplateContent = {
  readonly script?: Script | undefined;
  /** Names and defaults of parameters, all strings that a build may change. */
  readonly parameters?: Tags;
  /** `coder_workspace_tags`: Terraform expressions by tag name. */
  readonly workspaceTags?: Tags;
};

/** A fixed time: the same content must give the same file. */
const FIXED_TIME = new Date(0);

export async function templateArchive(content: TemplateContent): Promise<Uint8Array> {
  const { script = {}, parameters = {} } = content;
  const known = Object.entries(parameters).map(([name, value]) => ({ name, default: value }));
  const archive = pack();
  archive.entry({ name: 'main.tf', mtime: FIXED_TIME }, terraform(content));
  archive.entry({ name: 'story.json', mtime: FIXED_TIME }, JSON.stringify({ ...script, parameters: known }));
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

function terraform({ parameters = {}, workspaceTags = {} }: TemplateContent): string {
  const tags = Object.entries(workspaceTags).map(([name, value]) => `    "${name}" = ${value}`);
  return [
    'terraform {\n  required_providers {\n    coder = { source = "coder/coder" }\n  }\n}\n',
    ...Object.entries(parameters).map(([name, value]) => parameterBlock(name, value)),
    ...(tags.length === 0
      ? []
      : [`data "coder_workspace_tags" "tags" {\n  tags = {\n${tags.join('\n')}\n  }\n}\n`]),
  ].join('\n');
}

function parameterBlock(name: string, value: string): string {
  return `data "coder_parameter" "${name}" {
  name    = "${name}"
  type    = "string"
  default = "${value}"
  mutable = true
}
`;
}
