// Package play plays tours.
package play

// Pictures are those of rooms.
type Pictures interface {
	Get(room int) ([]byte, error)
}

// A Player goes through rooms.
type Player struct {
	Pictures Pictures
	Rooms    int
}

// Tour goes through all rooms and measures the light.
func (p *Player) Tour() (light int, err error) {
	for room := range p.Rooms {
		picture, err := p.Pictures.Get(room)
		if err != nil {
			return 0, err
		}
		for i := 0; i < len(picture); i += 97 {
			light += int(picture[i])
		}
	}
	return light, nil
}
