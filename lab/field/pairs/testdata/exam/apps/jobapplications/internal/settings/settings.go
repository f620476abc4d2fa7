// Package settings is what can be set of the service.
package settings

// Settings of the service.
type Settings struct {
	FormMemory int // room for the papers of a form
	FormLimit  int // bytes of the largest form
	Papers     int // most papers of an application
}

// Default returns the settings of the first installation.
func Default() Settings {
	return Settings{FormMemory: 4096, FormLimit: 8 << 20, Papers: 24}
}
