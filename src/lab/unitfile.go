package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// unitFile is a systemd service or timer unit with its drop-ins, as far as the lab's stand-in for systemd reads them.
// See systemd.unit(5), systemd.service(5), systemd.timer(5), systemd.exec(5) and systemd.syntax(7). What it does not
// know it passes over, as systemd does.
type unitFile struct {
	fragment string
	dropIns  []string
	stamp    string // of the files, to tell whether a daemon-reload is due

	description      string
	execStart        []execLine
	execStartPre     []execLine
	execStopPost     []execLine
	environment      []string
	environmentFiles []string
	restart          string
	restartSec       time.Duration
	timeoutStop      time.Duration

	wants              []string
	conditionPaths     []string // ConditionPathExists=
	startLimitInterval time.Duration
	startLimitBurst    int

	timer *timerFile // nil for a service
}

// timerFile is what a timer unit has beside the rest.
type timerFile struct {
	unit           string
	onActive       []time.Duration
	onUnitInactive []time.Duration
}

// execLine is a command line with its prefix.
type execLine struct {
	argv          []string
	ignoreFailure bool
}

const (
	defaultRestartSec         = 100 * time.Millisecond
	defaultTimeoutStop        = 90 * time.Second
	defaultStartLimitInterval = 10 * time.Second
)

// unitDirs are systemd's, the strongest first.
var unitDirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// findUnit finds a unit's fragment and its drop-ins below root: a file in a stronger directory hides the one of
// the same name in a weaker, and drop-ins apply in the order of their names.
func findUnit(root, name string) (fragment string, dropIns []string) {
	byName := map[string]string{}
	for _, dir := range slices.Backward(unitDirs) {
		path := filepath.Join(root, dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			fragment = path
		}
		matches, _ := filepath.Glob(filepath.Join(root, dir, name+".d", "*.conf"))
		for _, match := range matches {
			byName[filepath.Base(match)] = match
		}
	}
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		dropIns = append(dropIns, byName[name])
	}
	return fragment, dropIns
}

// unitStamp changes when one of the files changes.
func unitStamp(fragment string, dropIns []string) string {
	var b strings.Builder
	for _, path := range append([]string{fragment}, dropIns...) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", path, info.ModTime().UnixNano(), info.Size())
		}
	}
	return b.String()
}

// loadUnit reads a unit from below root; nil when there is none.
func loadUnit(root, name string) (*unitFile, error) {
	fragment, dropIns := findUnit(root, name)
	if fragment == "" {
		return nil, nil
	}
	u := &unitFile{fragment: fragment, dropIns: dropIns, stamp: unitStamp(fragment, dropIns),
		restart: "no", restartSec: defaultRestartSec, timeoutStop: defaultTimeoutStop,
		startLimitInterval: defaultStartLimitInterval, startLimitBurst: 5}
	if base, ok := strings.CutSuffix(name, ".timer"); ok {
		u.timer = &timerFile{unit: base + ".service"}
	}
	for _, path := range append([]string{fragment}, dropIns...) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := u.parse(string(data)); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if u.timer != nil && len(u.timer.onActive)+len(u.timer.onUnitInactive) == 0 {
		return nil, fmt.Errorf("%s: Timer unit lacks value setting. Refusing.", name) //nolint:staticcheck // systemd's words
	}
	if u.timer == nil && len(u.execStart) == 0 {
		return nil, fmt.Errorf("%s: Service has no ExecStart=. Refusing.", name) //nolint:staticcheck // systemd's words
	}
	return u, nil
}

func (u *unitFile) parse(text string) error {
	section := ""
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			next := strings.TrimSpace(lines[i])
			if strings.HasPrefix(next, "#") || strings.HasPrefix(next, ";") {
				continue // comments may stand between continued lines
			}
			line = strings.TrimSuffix(line, `\`) + " " + next
		}
		if line[0] == '[' {
			section = strings.Trim(line, "[]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		if err := u.set(section, strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	return nil
}

func (u *unitFile) set(section, key, value string) error {
	switch section + "." + key {
	case "Unit.Description":
		u.description = value
	case "Unit.Wants":
		u.wants = append(u.wants, strings.Fields(value)...)
	case "Unit.ConditionPathExists":
		if value == "" {
			u.conditionPaths = nil
			return nil
		}
		u.conditionPaths = append(u.conditionPaths, value)
	// The older names, in either section, are those of systemd before 230, which it still takes.
	case "Unit.StartLimitIntervalSec", "Unit.StartLimitInterval", "Service.StartLimitInterval":
		return setDuration(&u.startLimitInterval, value, defaultStartLimitInterval)
	case "Unit.StartLimitBurst", "Service.StartLimitBurst":
		burst, err := strconv.Atoi(value)
		u.startLimitBurst = burst
		return err
	case "Timer.Unit", "Timer.OnActiveSec", "Timer.OnUnitInactiveSec":
		if u.timer != nil {
			return u.timer.set(key, value)
		}
	case "Service.ExecStart":
		return addExec(&u.execStart, value)
	case "Service.ExecStartPre":
		return addExec(&u.execStartPre, value)
	case "Service.ExecStopPost":
		return addExec(&u.execStopPost, value)
	case "Service.Environment":
		if value == "" {
			u.environment = nil
			return nil
		}
		words, err := splitWords(value)
		u.environment = append(u.environment, words...)
		return err
	case "Service.EnvironmentFile":
		if value == "" {
			u.environmentFiles = nil
			return nil
		}
		u.environmentFiles = append(u.environmentFiles, value)
	case "Service.Restart":
		u.restart = value
	case "Service.RestartSec":
		return setDuration(&u.restartSec, value, defaultRestartSec)
	case "Service.TimeoutStopSec", "Service.TimeoutSec":
		return setDuration(&u.timeoutStop, value, defaultTimeoutStop)
	}
	return nil
}

func (t *timerFile) set(key, value string) error {
	if key == "Unit" {
		t.unit = value
		return nil
	}
	if value == "" { // resets all of them
		t.onActive, t.onUnitInactive = nil, nil
		return nil
	}
	var d time.Duration
	err := setDuration(&d, value, 0)
	if key == "OnActiveSec" {
		t.onActive = append(t.onActive, d)
	} else {
		t.onUnitInactive = append(t.onUnitInactive, d)
	}
	return err
}

// conditionsHold tells whether a start goes on; one that does not is no failure.
func (u *unitFile) conditionsHold(root string) bool {
	for _, condition := range u.conditionPaths {
		path, not := strings.CutPrefix(condition, "!")
		_, err := os.Stat(filepath.Join(root, path))
		if (err == nil) == not {
			return false
		}
	}
	return true
}

// addExec adds a command line; an empty one resets the list.
func addExec(list *[]execLine, value string) error {
	if value == "" {
		*list = nil
		return nil
	}
	line := execLine{}
	for value != "" && strings.ContainsRune("-@:+!", rune(value[0])) {
		line.ignoreFailure = line.ignoreFailure || value[0] == '-'
		value = value[1:]
	}
	words, err := splitWords(strings.ReplaceAll(value, "%%", "%"))
	if err != nil || len(words) == 0 {
		return err
	}
	line.argv = words
	*list = append(*list, line)
	return nil
}

// setDuration sets a time span; an empty one resets it to the default. ParseFloat takes "infinity" for a number.
func setDuration(d *time.Duration, value string, byDefault time.Duration) error {
	if value == "" {
		*d = byDefault
		return nil
	}
	if value == "infinity" {
		*d = 365 * 24 * time.Hour
		return nil
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		*d = time.Duration(seconds * float64(time.Second))
		return nil
	}
	parsed, err := time.ParseDuration(strings.NewReplacer(" ", "", "min", "m", "sec", "s").Replace(value))
	if err != nil {
		return fmt.Errorf("bad time span %q", value)
	}
	*d = parsed
	return nil
}

// splitWords splits as systemd does: blanks separate, single and double quotes group, a backslash escapes.
func splitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		switch {
		case c == '\\' && i+1 < len(runes):
			i++
			inWord = true
			switch runes[i] {
			case 'n':
				word.WriteRune('\n')
			case 't':
				word.WriteRune('\t')
			case 's':
				word.WriteRune(' ')
			case '\\', '"', '\'':
				word.WriteRune(runes[i])
			default: // systemd keeps what it does not know
				word.WriteRune('\\')
				word.WriteRune(runes[i])
			}
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case c == ' ' || c == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unbalanced quoting in %q", s)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// environ is the unit's environment: Environment= first, EnvironmentFile= over it. Missing files are an error
// unless their name begins with '-'.
func (u *unitFile) environ(root string) (map[string]string, error) {
	env := map[string]string{}
	for _, assignment := range u.environment {
		if key, value, ok := strings.Cut(assignment, "="); ok {
			env[key] = value
		}
	}
	for _, entry := range u.environmentFiles {
		path := strings.TrimPrefix(entry, "-")
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			if path != entry {
				continue
			}
			return nil, fmt.Errorf("Failed to load environment files: %w", err) //nolint:staticcheck // systemd's words
		}
		for _, line := range strings.Split(string(data), "\n") {
			line = strings.TrimSpace(line)
			key, value, ok := strings.Cut(line, "=")
			if !ok || line[0] == '#' || line[0] == ';' {
				continue
			}
			if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
				value = value[1 : len(value)-1]
			}
			env[strings.TrimSpace(key)] = value
		}
	}
	return env, nil
}

// expand substitutes variables as systemd does: a word that is $NAME becomes the value's words, ${NAME} anywhere
// becomes the value, $$ is a dollar.
func (l execLine) expand(env map[string]string) []string {
	var out []string
	for i, word := range l.argv {
		if i > 0 && len(word) > 1 && word[0] == '$' && word[1] != '{' && word[1] != '$' {
			out = append(out, strings.Fields(env[word[1:]])...)
			continue
		}
		out = append(out, expandBraces(word, env))
	}
	return out
}

func expandBraces(word string, env map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		switch {
		case strings.HasPrefix(word[i:], "$$"):
			b.WriteByte('$')
			i++
		case strings.HasPrefix(word[i:], "${"):
			end := strings.IndexByte(word[i:], '}')
			if end < 0 {
				b.WriteString(word[i:])
				return b.String()
			}
			b.WriteString(env[word[i+2:i+end]])
			i += end
		default:
			b.WriteByte(word[i])
		}
	}
	return b.String()
}
