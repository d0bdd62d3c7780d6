import { spawnSync } from 'node:child_process'

/** A language whose regular expressions differ from JavaScript's. */
export interface Engine {
  name: string
  /** Runs a source file. */
  command: string[]
  /** A command that succeeds if the language is installed. */
  probe: string[]
  file: string
  /** Reads Base64 lines, a pattern and then texts, and prints 1 or 0 for each text. */
  program: string
}

export const engines: Engine[] = [
  {
    name: 'Python',
    command: ['python3'],
    probe: ['python3', '--version'],
    file: 'match.py',
    program: `
import base64, re, sys
pattern, *texts = [base64.b64decode(line).decode() for line in sys.stdin.read().split("\\n")]
print("".join("1" if re.search(pattern, text) else "0" for text in texts))
`,
  },
  {
    name: 'Perl',
    command: ['perl'],
    probe: ['perl', '--version'],
    file: 'match.pl',
    program: `
use strict; use warnings FATAL => 'all'; use Encode; use MIME::Base64;
my ($pattern, @texts) = map { decode('UTF-8', decode_base64($_)) } split(/\\n/, join('', <STDIN>), -1);
print join('', map { $_ =~ /$pattern/ ? '1' : '0' } @texts);
`,
  },
  {
    name: 'Java',
    command: ['java'],
    probe: ['javac', '--version'],
    file: 'Match.java',
    program: `
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Pattern;
class Match {
  public static void main(String[] args) throws Exception {
    String input = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
    Pattern pattern = null;
    for (String line : input.split("\\n", -1)) {
      String text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
      if (pattern == null) pattern = Pattern.compile(text);
      else System.out.print(pattern.matcher(text).find() ? "1" : "0");
    }
  }
}
`,
  },
  {
    name: 'Go',
    command: ['go', 'run'],
    probe: ['go', 'version'],
    file: 'match.go',
    program: `
package main
import ("encoding/base64"; "fmt"; "io"; "os"; "regexp"; "strings")
func main() {
  input, _ := io.ReadAll(os.Stdin)
  var pattern *regexp.Regexp
  for _, line := range strings.Split(string(input), "\\n") {
    text, _ := base64.StdEncoding.DecodeString(line)
    if pattern == nil { pattern = regexp.MustCompile(string(text)) } else if pattern.Match(text) { fmt.Print("1") } else { fmt.Print("0") }
  }
}
`,
  },
]

export function isInstalled([program = '', ...words]: string[]): boolean {
  return spawnSync(program, words).status === 0
}
