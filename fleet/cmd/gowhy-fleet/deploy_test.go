package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const deploy = "../../deploy/"

func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(deploy + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDeployedFlags holds that what the files of fleet/deploy run is a command that there
// is, with flags that it has.
func TestDeployedFlags(t *testing.T) {
	serve, _, err := (&command{stdout: io.Discard, stderr: io.Discard}).root().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	for file, command := range map[string]string{
		"gowhy-fleet.service": `(?m)^Exec\w+=/usr/local/bin/gowhy-fleet serve( .*)$`,
		"Containerfile":       `(?m)^CMD \["serve"(,.*)\]$`,
		"kubernetes.yaml":     `(?m)^ +args: \[serve(,.*)\]$`,
	} {
		commands := regexp.MustCompile(command).FindAllStringSubmatch(deployed(t, file), -1)
		if len(commands) == 0 {
			t.Errorf("%s runs no gowhy-fleet serve", file)
		}
		for _, c := range commands {
			flags := regexp.MustCompile(`--([\w.-]+)`).FindAllStringSubmatch(c[1], -1)
			if len(flags) < 2 {
				t.Errorf("%s has %q", file, c[1])
			}
			for _, f := range flags {
				if serve.Flags().Lookup(f[1]) == nil {
					t.Errorf("%s has --%s, which serve has not", file, f[1])
				}
			}
		}
	}
}

// TestUnit has the unit read by systemd, and holds it to the settings that keep a server
// in its directory.
func TestUnit(t *testing.T) {
	unit := deployed(t, "gowhy-fleet.service")
	for _, setting := range []string{"DynamicUser=yes", "StateDirectory=gowhy-fleet", "ProtectSystem=strict", "ProtectHome=yes", "NoNewPrivileges=yes", "CapabilityBoundingSet="} {
		if !slices.Contains(strings.Split(unit, "\n"), setting) {
			t.Errorf("no %s", setting)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze, of Debian's package systemd, is not here: the unit was read by nobody else")
	}
	program, err := os.Executable() // which systemd looks for
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, t.TempDir(), "gowhy-fleet.service", strings.ReplaceAll(unit, "/usr/local/bin/gowhy-fleet", program))
	if said, err := exec.CommandContext(t.Context(), analyze, "verify", file).CombinedOutput(); err != nil || bytes.Contains(said, []byte(filepath.Base(file))) {
		t.Errorf("%v: %s", err, said)
	}
}

// TestKubernetes reads the objects, and holds that they fit together.
func TestKubernetes(t *testing.T) {
	type object struct {
		Kind     string
		Metadata struct{ Name string }
		Spec     struct {
			Replicas int
			Strategy struct{ Type string }
			Selector map[string]any
			Template struct {
				Metadata struct{ Labels map[string]any }
				Spec     struct {
					SecurityContext struct {
						RunAsNonRoot bool `yaml:"runAsNonRoot"`
					} `yaml:"securityContext"`
					Containers []struct {
						SecurityContext struct {
							ReadOnlyRootFilesystem bool `yaml:"readOnlyRootFilesystem"`
						} `yaml:"securityContext"`
						VolumeMounts []struct{ Name string } `yaml:"volumeMounts"`
					}
					Volumes []struct {
						Name                  string
						PersistentVolumeClaim struct {
							ClaimName string `yaml:"claimName"`
						} `yaml:"persistentVolumeClaim"`
					}
				}
			}
		}
	}
	objects := map[string]object{}
	for d := yaml.NewDecoder(strings.NewReader(deployed(t, "kubernetes.yaml"))); ; {
		var o object
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		objects[o.Kind] = o
	}
	d := objects["Deployment"].Spec
	pod := d.Template.Spec
	if len(objects) != 3 || len(pod.Containers) != 1 || d.Replicas != 1 || d.Strategy.Type != "Recreate" || !pod.SecurityContext.RunAsNonRoot || !pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
		t.Fatalf("kubernetes.yaml has %d objects and the Deployment %+v, "+
			"want 3 and Replicas 1, Recreate, RunAsNonRoot, and one container with ReadOnlyRootFilesystem", len(objects), d)
	}
	selector, mounts := objects["Service"].Spec.Selector, pod.Containers[0].VolumeMounts
	if len(selector) == 0 || len(pod.Volumes) == 0 || len(mounts) != len(pod.Volumes) {
		t.Fatalf("the Service selects by %v, and %d volumes have %d mounts, want a selector, and a mount for each",
			selector, len(pod.Volumes), len(mounts))
	}
	for name, value := range selector {
		if d.Template.Metadata.Labels[name] != value {
			t.Errorf("the Service selects %s: %v, which the pods have not", name, value)
		}
	}
	for i, v := range pod.Volumes {
		if v.Name != mounts[i].Name {
			t.Errorf("volume %q is mounted as %q", v.Name, mounts[i].Name)
		}
	}
	if claim := pod.Volumes[0].PersistentVolumeClaim.ClaimName; claim != objects["PersistentVolumeClaim"].Metadata.Name {
		t.Errorf("it claims %q", claim)
	}
}

// TestContainerfile holds that each instruction is one, and the program is not root.
func TestContainerfile(t *testing.T) {
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
	var seen []string
	for line := range strings.Lines(deployed(t, "Containerfile")) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		if !slices.Contains(known, word) {
			t.Errorf("%q is no instruction", line)
		}
		seen = append(seen, strings.TrimSpace(line))
	}
	if !slices.Contains(seen, "USER 65532:65532") || !slices.Contains(seen, "FROM scratch") {
		t.Errorf("%q", seen)
	}
}
