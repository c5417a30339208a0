"""First light: a whole game server answers."""

from running import Running


def test_two_people_sign_up_and_play_a_first_move(server: Running) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    assert server.send(alice, "blackbox challenge alice bob").startswith("250")
    own, asked = server.letter(alice), server.letter(bob)
    server.reply(asked, "b3,d3,a1,g6")
    server.reply(own, "a1,c4,e5,g2")
    assert "Your move" in server.letters(alice)[-1].text
    assert "alice to move" in server.letters(bob)[-1].text
