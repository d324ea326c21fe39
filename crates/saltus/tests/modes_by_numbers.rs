//! A direction of sliding as a number, an enumeration or Booleans: the same modes, whatever they are told by. (How a wall and dry
//! friction share a load was once added to all modes with the wall, because numbers were not among what tells modes apart.)

use saltus::Session;
use saltus_testing::Random;

/// How a direction is declared, computed from `fw` and `bw`, and asked for.
const WAYS: [[&str; 4]; 5] = [
    ["", "", "fw", "bw"],
    [
        "Integer d;",
        "d = if fw then 1 elseif bw then -1 else 0;",
        "d == 1",
        "d == -1",
    ],
    [
        "Integer d;",
        "d = if fw then 1 elseif bw then -1 else 0;",
        "d > 0",
        "d < 0",
    ],
    [
        "Integer d;",
        "d = if fw then 7 elseif bw then 3 else 5;",
        "d >= 6",
        "not d > 4",
    ],
    [
        "type D = enumeration(back, stick, forth); D d;",
        "d = if fw then D.forth elseif bw then D.back else D.stick;",
        "d == D.forth",
        "d == D.back",
    ],
];

#[test]
fn numbers_and_booleans_tell_the_same_modes() {
    let mut random = Random::named("modes by numbers");
    for number in 0..40 {
        let (mass, friction) = (random.power(-1.0, 1.0), random.power(-1.0, 1.0));
        let (place, speed) = (random.power(-1.0, 1.0), random.power(-1.0, 1.0));
        // Enough to bring it to the wall, and too little to move it any more.
        let push = friction * random.between(1.05, 4.0);
        let run = |[declared, computed, forth, back]: [&str; 4]| {
            let text = format!(
                "model M
                  {declared}
                  Real x(start = {place:?}, fixed = true), v(start = -{speed:?}, fixed = true), h, s, f, z;
                  Boolean c, fw(start = false), bw(start = false);
                equation
                  der(x) = v; {mass:?}*der(v) = f - h - {push:?};
                  c = z > 0; 0 = if c then x else f; z = if c then f else -x;
                  fw = s > 1; bw = s < -1; {computed}
                  if {forth} then v = s - 1; h = {friction:?};
                  elseif {back} then v = s + 1; h = -{friction:?};
                  else v = 0; h = {friction:?}*s; end if;
                end M;"
            );
            let session = Session::new();
            session.add_text("M.mo", &text);
            let model = session.compile("M").into_result();
            let model = model.unwrap_or_else(|diagnostics| panic!("{number}: {diagnostics:?}\n{text}"));
            let run = model.run().stop(2.0 * place / speed + 1.0).interval(0.1).simulate();
            let run = run.unwrap_or_else(|failed| panic!("{number}: {:?}\n{text}", failed.diagnostic()));
            ["x", "v"].map(|name| run.values(name).expect("it is shown").into_owned())
        };
        let wanted = run(WAYS[0]);
        assert!(
            wanted[0].last().is_some_and(|x| x.abs() < 1e-6 * place),
            "{number}: not at the wall"
        );
        for way in &WAYS[1..] {
            for (found, wanted) in run(*way).iter().zip(&wanted) {
                assert_eq!(found.len(), wanted.len(), "{number}: {way:?}");
                let differs = |(found, wanted): (&f64, &f64)| (found - wanted).abs() > 1e-6 * (place + speed);
                assert!(!found.iter().zip(wanted).any(differs), "{number}: {way:?}");
            }
        }
    }
}
