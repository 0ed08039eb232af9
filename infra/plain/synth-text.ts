import { type WrittenFile, writeTemplate } from './write-template.ts';

const NEXT =
  'docs/terraform.md has a module for Terraform, and commands for the AWS CLI. They upload the folder assets to an S3 bucket in the region of the stack, and create the stack with the parameters AssetBucket and AssetPrefix (TemplateHash may be empty) and the capability CAPABILITY_IAM.\n';

/** Writes the template of a configuration file, and says what was written and what comes next. */
export function synthText({ config, out }: { readonly config: string; readonly out: string }): string {
  const { template, assets } = writeTemplate({ configFile: config }, { outDir: out });
  return `wrote\n${[template, ...assets].map(toRow).join('')}\n${NEXT}`;
}

function toRow({ file, bytes }: WrittenFile): string {
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return `  ${file}  ${size}\n`;
}
