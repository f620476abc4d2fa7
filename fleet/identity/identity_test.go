package identity

import (
	"runtime/debug"
	"testing"
)

func TestService(t *testing.T) {
	for _, c := range []struct {
		environ []string
		exe     string
		want    string
	}{
		{nil, "/srv/bin/checkout", "checkout"},
		{nil, `checkout.exe`, "checkout"},
		{[]string{"OTEL_SERVICE_NAME=shop", "HOME=/"}, "/srv/a", "shop"},
		{[]string{"OTEL_SERVICE_NAME=shop", "GOWHY_SERVICE=shop-eu"}, "/srv/a", "shop-eu"},
		{[]string{"GOWHY_SERVICE=", "XGOWHY_SERVICE=no"}, "/srv/a", "a"},
		{nil, "", ""},
	} {
		if got := Service(c.environ, c.exe); got != c.want {
			t.Errorf("%v %q: %q, want %q", c.environ, c.exe, got, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	built := func(version string, settings ...string) *debug.BuildInfo {
		b := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			b.Settings = append(b.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return b
	}
	for _, c := range []struct {
		b    *debug.BuildInfo
		want string
	}{
		{nil, ""},
		{built("(devel)"), ""},
		{built("v1.2.3", "vcs.revision", "0123456789abcdef"), "v1.2.3"},
		{built("(devel)", "vcs.revision", "0123456789abcdef"), "0123456789ab"},
		{built("", "vcs.revision", "0123456789abcdef", "vcs.modified", "true"), "0123456789ab+dirty"},
		{built("", "vcs.revision", "r1", "vcs.modified", "false"), "r1"},
	} {
		if got := Version(c.b); got != c.want {
			t.Errorf("%+v: %q, want %q", c.b, got, c.want)
		}
	}
}
