/** A template as it is uploaded: Terraform, and a script that a daemon of the story follows in Terraform's place. */
import { pack } from 'tar-stream';
import type { NewVersion } from './stage.ts';

/** The same content is the same file. */
const NEVER = new Date(0);

/** As a tar file. */
export async function templateArchive({ script = {}, parameter }: NewVersion): Promise<Uint8Array> {
  const parameters = parameter === undefined ? [] : [{ name: parameter.name, default: parameter.value }];
  const archive = pack();
  archive.entry({ name: 'main.tf', mtime: NEVER }, terraform(parameter));
  archive.entry({ name: 'story.json', mtime: NEVER }, JSON.stringify({ ...script, parameters }));
  archive.finalize();
  const chunks: Uint8Array[] = [];
  for await (const chunk of archive) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks);
}

function terraform(parameter: NewVersion['parameter']): string {
  const provider = 'terraform {\n  required_providers {\n    coder = { source = "coder/coder" }\n  }\n}\n';
  if (parameter === undefined) return provider;
  const { name, value } = parameter;
  return `${provider}
data "coder_parameter" "${name}" {
  name    = "${name}"
  type    = "string"
  default = "${value}"
  mutable = true
}

data "coder_workspace_tags" "tags" {
  tags = {
    "${name}" = data.coder_parameter.${name}.value
  }
}
`;
}
