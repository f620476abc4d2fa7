package wall_test

import (
	"testing"

	"camerawall/internal/camera"
	"camerawall/internal/frame"
	"camerawall/internal/wall"
)

func TestSame(t *testing.T) {
	alarms := map[string]int{}
	for _, name := range []string{"queue", "discard"} {
		p, err := frame.ParsePolicy(name)
		if err != nil {
			t.Fatal(err)
		}
		store := frame.NewStore(64, p)
		site := camera.NewSite(4, camera.Day)
		w := wall.New(store, 4)
		for i := range 200 {
			if i == 100 {
				site.Switch(camera.Night)
			}
			for c := range 4 {
				w.Show(site.Take(c, store))
			}
			w.Compose()
		}
		alarms[name] = w.Alarms()
	}
	if alarms["queue"] != alarms["discard"] || alarms["queue"] == 0 {
		t.Error(alarms)
	}
}
