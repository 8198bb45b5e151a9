import { oneOf } from "./option-values.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

/*
 * The scripts ask the command itself what can stand at the cursor, so that they never fall behind it. They call it by its name and not by the
 * word that was typed: a Tab starts no program of the current folder. No word of the answer is ever evaluated.
 */

// The shell divides words at = and :, so they are joined again, and the part before is taken off the candidates. Works with bash 3.2.
const BASH = String.raw`# Completion of troupe for bash. Load it in ~/.bashrc: source <(troupe completion bash)
_troupe() {
  local words=() word joined= i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ \${#words[@]} -gt 0 && ( -n $joined || $word == [=:] ) ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    joined=
    [[ $word == [=:] ]] && joined=1
  done
  local whole=\${words[\${#words[@]} - 1]} typed=\${COMP_WORDS[COMP_CWORD]}
  [[ $typed == [=:] ]] && typed=
  local before=\${whole%"$typed"} line kind=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("\${line#"$before"}"); fi
  done < <(troupe __complete bash -- "\${words[@]}" 2>/dev/null)
  if [[ $kind != files && $kind != folders ]]; then return; fi
  if [[ \${#COMPREPLY[@]} -eq 0 ]] && type compopt >/dev/null 2>&1; then
    if [[ $kind == files ]]; then compopt -o default; else compopt -o dirnames; fi
    return
  fi
  type compopt >/dev/null 2>&1 && compopt -o filenames
  local action=-f
  [[ $kind == folders ]] && action=-d
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$action" -- "$typed")
}
complete -F _troupe troupe
`;

const ZSH = String.raw`#compdef troupe
# Completion of troupe for zsh. Load it in ~/.zshrc: source <(troupe completion zsh)
_troupe() {
  local -a lines values texts
  local line kind
  lines=("\${(@f)$(troupe __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  kind=\${lines[1]}
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${line%%$'\t'*}")
    texts+=("\${line/$'\t'/  -- }")
  done
  (( $#values )) && compadd -l -V troupe -d texts -a values
  case $kind in
    files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
    folders) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
  esac
}
if [[ $funcstack[1] == _troupe ]]; then
  _troupe "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _troupe troupe
fi
`;

const FISH = String.raw`# Completion of troupe for fish. Load it in ~/.config/fish/config.fish: troupe completion fish | source
function __troupe_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l token (commandline -ct)
    set -l lines (troupe __complete fish -- $words $token 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    test (count $lines) -gt 0; and printf '%s\n' $lines
    set -l before (string match -r -- '^--[^=]*=' $token; or echo)
    set -l path (string replace -r -- '^--[^=]*=' '' $token)
    switch "$kind"
        case files
            printf '%s\n' $before(__fish_complete_path $path)
        case folders
            printf '%s\n' $before(__fish_complete_directories $path)
    end
end
complete -c troupe -f -a '(__troupe_complete)'
`;

export function completionScript(shell: string): string {
  return { bash: BASH, zsh: ZSH, fish: FISH }[oneOf("<shell>", shell, SHELLS)].replaceAll("\\${", "${");
}
